// Without SMTP_URL a developer finds the link of each mail in the log.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HttpClient } from '../support/http-client';
import { PlinthProcess } from '../support/plinth-process';
import { until } from './support/processes';

let directory: string;
let plinth: PlinthProcess;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-links-'));
  plinth = await PlinthProcess.start({ dataDir: directory, env: { LOG_LEVEL: 'info' } });
}, 60_000);
afterAll(async () => {
  await plinth.end('SIGTERM');
  rmSync(directory, { recursive: true, force: true });
}, 60_000);

interface Line {
  readonly level: number;
  readonly msg: string;
}

/** The log lines about mails. */
function mailLines(): Line[] {
  // The last line may not have arrived as a whole.
  const lines = plinth.printed.split('\n').slice(0, -1);
  return lines
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
    .filter(({ msg }) => msg.startsWith('SMTP_URL is not set: the mail "'));
}

it("prints one line per mail with the mail's working link", async () => {
  const settings = { email_verification_required: true };
  const created = await plinth.admin.post('/admin/v1/projects', { name: 'Links', settings });
  const { id, anon_key: apikey } = created.body;
  const client = new HttpClient(`${plinth.baseUrl}/v1/auth/${id}`, { apikey });
  await client.post('/signup', { email: 'ada@example.com', password: 'secret' });
  await until(() => mailLines().length === 1);
  await client.post('/reset-password', { email: 'ada@example.com' });
  await until(() => mailLines().length === 2);
  const pages = ['verify', 'reset'];
  for (const [index, line] of mailLines().entries()) {
    const [, file = '', link = ''] = /^.* was written to (\S+\.eml); its link is (\S+)$/.exec(line.msg) ?? [];
    expect(link).toMatch(
      new RegExp(`^${plinth.publicUrl}/v1/auth/${id}/${pages[index]}\\?token=[\\w-]{43}$`),
    );
    expect(readFileSync(file, 'utf8').replaceAll('=\n', '').replaceAll('=3D', '=')).toContain(link);
    expect((await new HttpClient(plinth.baseUrl).get(link.slice(plinth.publicUrl.length))).status).toBe(200);
  }
  const token = new URL(/\S+$/.exec(mailLines()[0]?.msg ?? '')?.[0] ?? '').searchParams.get('token');
  expect((await client.post('/verify-email', { token })).status).toBe(200);
  const { session } = (await client.post('/login', { email: 'ada@example.com', password: 'secret' })).body;
  const signedIn = client.with({ authorization: `Bearer ${session.access_token}` });
  const change = { email: 'ada@new.example.com', current_password: 'secret' };
  expect((await signedIn.patch('/user', change)).status).toBe(200);
  await until(() => mailLines().length === 4);
  // The notice to the old address has no link to confirm.
  const withLink = mailLines()
    .slice(2)
    .map(({ msg }) => /\?token=[\w-]{43}$/.test(msg));
  expect(withLink.sort()).toEqual([false, true]);
});
