import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileTransport } from './file-transport';

const DAY_MS = 86_400_000;

let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'plinth-mails-'))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function sendOn(days: readonly number[], count: number): Promise<string[]> {
  const transport = new FileTransport(directory, 'a@example.com', { count, ageMs: 30 * DAY_MS });
  for (const day of days) {
    const date = new Date(Date.now() - day * DAY_MS);
    const mail = { messageId: `<${day}@plinth>`, to: 'b@example.com', subject: 'S', text: '', html: '' };
    await transport.send({ ...mail, link: null, date });
  }
  return readdirSync(directory)
    .map((name) => /(\w+)_plinth/.exec(name)?.[1] ?? name)
    .sort();
}

it('keeps the newest mails', async () => {
  expect(await sendOn([5, 4, 3, 2, 1], 3)).toEqual(['_1', '_2', '_3']);
});

it('removes mails that are too old, and leaves other files', async () => {
  writeFileSync(join(directory, 'README'), '');
  writeFileSync(join(directory, '2020-01-01T00-00-00-000Z-x.eml.part'), '');
  expect(await sendOn([40, 31, 29, 0], 100)).toEqual(['README', '_0', '_29']);
});
