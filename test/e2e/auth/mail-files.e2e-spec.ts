/** Without SMTP_URL: mails are written as .eml files to mail/ in the data directory (DECISIONS.md 4). */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { simpleParser } from 'mailparser';
import { eventually, tokenIn } from '../../support/mail-server';
import { TestPlinth } from '../../support/plinth';

let plinth: TestPlinth;
beforeAll(async () => (plinth = await TestPlinth.start()));
afterAll(() => plinth.stop());

it('writes the mail as an .eml file readable only by its owner', async () => {
  const project = await plinth.createProject();
  const user = await project.signUp();
  const client = project.client(project.anonKey, null);
  await client.post(`${project.auth}/reset-password`, { email: user.email });
  const directory = join(plinth.dataDir, 'mail');
  const file = await eventually(async () => {
    const names = await readdir(directory).catch(() => []);
    return names.find((name) => name.endsWith('.eml')) ?? null;
  });
  const mail = await simpleParser(await readFile(join(directory, file)));
  expect(mail.subject).toBe('Reset your password for Test');
  expect((await stat(join(directory, file))).mode & 0o777).toBe(0o600);
  const update = { token: tokenIn(mail), password: 'a new password' };
  expect((await client.post(`${project.auth}/update-password`, update)).status).toBe(200);
});
