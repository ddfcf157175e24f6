/**
 * kill -9 while resets are requested and mails are sent. After the restart every token has its mail and every mail its token,
 * and every acknowledged request leads to a mail.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HttpClient } from '../support/http-client';
import { eventually, MailServer, tokenIn } from '../support/mail-server';
import { PlinthProcess } from '../support/plinth-process';

const USERS = 12;
/** A job waits 15 seconds for its release, and up to 30 for the lock of a killed worker. */
const DELIVERY_LIMIT_MS = 75_000;

let directory: string;
let smtp: MailServer;
let plinth: PlinthProcess;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-mail-'));
  smtp = await MailServer.start();
});
afterAll(async () => {
  await plinth.end('SIGTERM');
  await smtp.stop();
  rmSync(directory, { recursive: true, force: true });
});

const start = (): Promise<PlinthProcess> =>
  PlinthProcess.start({
    dataDir: directory,
    env: { SMTP_URL: smtp.url },
    tuning: { mailRetryDelayMs: 1_000 },
  });

it('delivers every acknowledged mail with a valid token after kill -9', async () => {
  plinth = await start();
  const { id, anon_key: apikey } = (await plinth.admin.post('/admin/v1/projects', { name: 'Mail' })).body;
  const post = (path: string, body: unknown) =>
    new HttpClient(plinth.baseUrl, { apikey }).post(`/v1/auth/${id}/${path}`, body);
  const emails = Array.from({ length: USERS }, (_, n) => `user-${n}@example.com`);
  for (const email of emails) expect((await post('signup', { email, password: 'secret' })).status).toBe(201);

  const promised: string[] = [];
  const requests = emails.map(async (email) => {
    const { status } = await post('reset-password', { email }).catch(() => ({ status: 0 }));
    if (status === 200) promised.push(email);
  });
  // Kill in the middle, with some requests answered, some rows being written and some mails being sent.
  await eventually(() => (promised.length >= USERS / 3 ? true : null));
  await plinth.end('SIGKILL');
  await Promise.all(requests);

  plinth = await start();
  for (const email of promised) await eventually(() => smtp.to(email)[0] ?? null, DELIVERY_LIMIT_MS);
  const sql = async (query: string) =>
    (await plinth.admin.post(`/admin/v1/projects/${id}/sql`, { query })).body.rows;
  const [counts] = await sql(`select
    (select count(*)::int from auth.mailed_tokens t where not exists (
      select from auth.outgoing_mails m where m.user_id = t.user_id)) as without_mail,
    (select count(*)::int from auth.outgoing_mails m where not exists (
      select from auth.mailed_tokens t where t.user_id = m.user_id)) as without_token`);
  expect(counts).toEqual({ without_mail: 0, without_token: 0 });
  await eventually(async () => {
    const [{ open }] = await sql(
      'select count(*)::int as open from auth.outgoing_mails where sent_at is null',
    );
    return open === 0 ? true : null;
  }, DELIVERY_LIMIT_MS);
  for (const email of promised) {
    const mails = smtp.to(email);
    // After a kill between delivery and its record, a mail is sent twice with the same Message-ID.
    expect(new Set(mails.map(({ messageId }) => messageId)).size).toBe(1);
    const update = { token: tokenIn(mails[0] as (typeof mails)[0]), password: 'a new password' };
    expect((await post('update-password', update)).status).toBe(200);
  }
}, 200_000);
