/** Mails and their queue with SMTP servers that refuse, disconnect and recover. */
import { randomUUID } from 'node:crypto';
import { HttpAnswer } from '../../support/http-client';
import { eventually, MailServer, tokenIn } from '../../support/mail-server';
import { TestPlinth } from '../../support/plinth';
import { TestProject, TestUser } from '../../support/test-project';

async function requestReset(project: TestProject, user: TestUser): Promise<void> {
  const client = project.client(project.anonKey, null);
  const answer = await client.post(`${project.auth}/reset-password`, { email: user.email });
  expect(answer.status).toBe(200);
}

const updateStatus = async (project: TestProject, token: string): Promise<number> =>
  (
    await project
      .client(project.anonKey, null)
      .post(`${project.auth}/update-password`, { token, password: 'a new password' })
  ).status;

describe('with an SMTP server that misbehaves', () => {
  let smtp: MailServer;
  let plinth: TestPlinth;
  let project: TestProject;

  beforeAll(async () => {
    smtp = await MailServer.start();
    plinth = await TestPlinth.start({ env: { SMTP_URL: smtp.url }, tuning: { mailRetryDelayMs: 5 } });
    project = await plinth.createProject();
  });
  beforeEach(() => {
    smtp.mood = 'accept';
    smtp.refusals = 0;
  });
  afterAll(async () => {
    await plinth.stop();
    await smtp.stop();
  });

  it('sends a test mail immediately, with the draft and sample values, or reports the error', async () => {
    const path = `${project.auth}/admin/mail-test`;
    const draft = { kind: 'reset', to: 'grace@example.com', subject: 'Draft for {{ name }}' };
    expect((await project.service.post(path, draft)).status).toBe(200);
    const [mail, ...rest] = smtp.to('grace@example.com');
    expect(rest).toEqual([]);
    expect(mail?.subject).toBe('Draft for Ada Lovelace');
    smtp.mood = 'refuse';
    const refused = await project.service.post(path, draft);
    expect(refused.body).toEqual({ detail: expect.stringContaining('451'), status_code: 502 });
    for (const wrong of [{ to: 'a\r\nBcc: b@example.com' }, { to: 'no address' }, { subject: '{% if %}' }])
      expect((await project.service.post(path, { ...draft, ...wrong })).status).toBe(400);
  });

  it("limits test mails by the project's quota, by the address, and to one at a time", async () => {
    const sendTo = ({ service, auth }: TestProject, to: string): Promise<HttpAnswer> =>
      service.post(`${auth}/admin/mail-test`, { kind: 'reset', to });
    const limited = await plinth.createProject({ settings: { mails_per_day: 2 } });
    expect((await sendTo(limited, 'one@example.com')).status).toBe(200);
    expect((await sendTo(limited, 'two@example.com')).status).toBe(200);
    const spent = await sendTo(limited, 'three@example.com');
    expect(spent.status).toBe(429);
    expect(Number(spent.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(smtp.to('three@example.com')).toEqual([]);

    const other = await plinth.createProject();
    const statuses: number[] = [];
    for (let n = 0; n < 11; n += 1) statuses.push((await sendTo(other, 'same@example.com')).status);
    expect(statuses).toEqual([...Array<number>(10).fill(200), 429]);
    for (let n = 0; n < 11; n += 1) statuses.push((await sendTo(other, `${n}@example.com`)).status);
    expect(statuses.slice(11)).toEqual([...Array<number>(10).fill(200), 429]);

    smtp.mood = 'hold';
    const first = sendTo(project, 'first@example.com');
    await eventually(() => (smtp.waiting === 1 ? true : null));
    const second = await sendTo(project, 'second@example.com');
    expect([second.status, second.headers.get('retry-after')]).toEqual([429, '1']);
    smtp.letGo();
    expect((await first).status).toBe(200);
  });

  it.each(['refuse', 'drop'] as const)(
    'retries when the server answers with %s, and delivers once',
    async (mood) => {
      const user = await project.signUp();
      smtp.mood = mood;
      await requestReset(project, user);
      await eventually(() => (smtp.refusals >= 2 ? true : null));
      expect(smtp.to(user.email)).toEqual([]);
      smtp.mood = 'accept';
      expect(await updateStatus(project, tokenIn(await smtp.mailTo(user.email)))).toBe(200);
      const marker = await project.signUp();
      await requestReset(project, marker);
      await smtp.mailTo(marker.email);
      expect(smtp.to(user.email)).toHaveLength(1);
    },
  );

  it('does not delay requests for a slow server, and delivers once', async () => {
    const users = [await project.signUp(), await project.signUp()] as const;
    smtp.mood = 'hold';
    for (const user of users) await requestReset(project, user);
    await eventually(() => (smtp.waiting === 2 ? true : null));
    // Requests are answered and more mails are queued while the server is silent.
    expect((await users[0].http.get(`${project.auth}/user`)).status).toBe(200);
    const late = await project.signUp();
    await requestReset(project, late);
    expect(smtp.mails.filter(({ recipients }) => recipients.includes(late.email))).toEqual([]);
    smtp.letGo();
    for (const user of [...users, late]) {
      expect(await updateStatus(project, tokenIn(await smtp.mailTo(user.email)))).toBe(200);
      expect(smtp.to(user.email)).toHaveLength(1);
    }
  });

  it('delivers once when an unreachable server returns', async () => {
    const user = await project.signUp();
    await smtp.stop();
    await requestReset(project, user);
    await eventually(async () => {
      const [mail] = await project.sql(
        `select last_error from auth.outgoing_mails where user_id = '${user.id}'`,
      );
      return /ECONNREFUSED/.test(mail?.last_error ?? '') ? true : null;
    });
    smtp = await MailServer.start({}, smtp.port);
    expect(await updateStatus(project, tokenIn(await smtp.mailTo(user.email)))).toBe(200);
    expect(smtp.to(user.email)).toHaveLength(1);
  });

  it('gives up after the last try, lists the mail for the administrator, and sends it on request', async () => {
    const user = await project.signUp();
    const admin = project.service;
    smtp.mood = 'refuse';
    await requestReset(project, user);
    const failed = await eventually(async () => {
      const { body } = await admin.get(`${project.auth}/admin/failed-mails`);
      return body.mails[0] ?? null;
    }, 50_000);
    expect(failed).toEqual({
      id: expect.any(String),
      kind: 'reset',
      recipient: user.email,
      created_at: expect.any(String),
      attempts: 12,
      last_error: expect.stringContaining('451'),
    });
    smtp.mood = 'accept';
    const retry = `${project.auth}/admin/failed-mails/${failed.id}/retry`;
    expect((await project.anon.post(retry)).status).toBe(403);
    expect((await admin.post(retry)).body).toEqual({ message: expect.any(String) });
    expect(await updateStatus(project, tokenIn(await smtp.mailTo(user.email)))).toBe(200);
    expect((await admin.get(`${project.auth}/admin/failed-mails`)).body.mails).toEqual([]);
    expect((await admin.post(retry)).status).toBe(404);
    expect((await admin.post(`${project.auth}/admin/failed-mails/${randomUUID()}/retry`)).status).toBe(404);
  }, 60_000);

  it('counts sent, retried and given-up mails in the metrics', async () => {
    const { text } = await plinth.admin.get('/metrics');
    for (const outcome of ['sent', 'retried', 'given_up']) {
      expect(text).toMatch(new RegExp(`^plinth_mails_total\\{outcome="${outcome}"\\} [1-9]`, 'm'));
    }
    expect(text).toMatch(/^plinth_passwords_waiting 0$/m);
  });

  it('sends no mail whose token has expired', async () => {
    const user = await project.signUp();
    smtp.mood = 'refuse';
    await requestReset(project, user);
    await eventually(() => (smtp.refusals >= 1 ? true : null));
    plinth.clock.move(3_700);
    const error = await eventually(async () => {
      const rows = await project.sql(
        `select last_error from auth.outgoing_mails where user_id = '${user.id}' and failed_at is not null`,
      );
      return (rows[0]?.last_error ?? null) as string | null;
    });
    expect(error).toContain('expired');
    expect(smtp.to(user.email)).toEqual([]);
  });

  it('deletes the mails of a deleted user', async () => {
    const user = await project.signUp();
    smtp.mood = 'refuse';
    await requestReset(project, user);
    await eventually(() => (smtp.refusals >= 1 ? true : null));
    await project.service.delete(`${project.auth}/admin/users/${user.id}`);
    expect(await project.sql(`select from auth.outgoing_mails where recipient = '${user.email}'`)).toEqual(
      [],
    );
  });
});

it('sends delayed mails immediately when an operator requests it', async () => {
  const smtp = await MailServer.start();
  const plinth = await TestPlinth.start({
    env: { SMTP_URL: smtp.url },
    tuning: { mailRetryDelayMs: 3_600_000 },
  });
  try {
    const project = await plinth.createProject();
    const user = await project.signUp();
    smtp.mood = 'refuse';
    await requestReset(project, user);
    const delayed = async (): Promise<number> =>
      (await plinth.admin.get('/admin/v1/queues')).body.find(({ name }) => name === 'auth-mail')!.delayed;
    await eventually(async () => (smtp.refusals === 1 && (await delayed()) === 1 ? true : null));
    smtp.mood = 'accept';
    const retried = await plinth.admin.post('/admin/v1/queues/auth-mail/retry');
    expect(retried).toMatchObject({ status: 200, body: { name: 'auth-mail', delayed: 0 } });
    await smtp.mailTo(user.email);
    const missing = await plinth.admin.post('/admin/v1/queues/nothing/retry');
    expect(missing).toMatchObject({ status: 404, body: { error: { code: 'queue_not_found' } } });
    const [entry] = (await plinth.admin.get('/admin/v1/audit-log?action=queue.retry')).body;
    expect(entry).toMatchObject({ action: 'queue.retry', details: { queue: 'auth-mail' } });
  } finally {
    await plinth.stop();
    await smtp.stop();
  }
});
