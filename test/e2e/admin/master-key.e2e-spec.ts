/** The rotation of MASTER_KEY while some processes have the old key and others the new key. */
import { getQueueToken } from '@nestjs/bullmq';
import type { Queue } from 'bullmq';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TOTP } from 'otpauth';
import { DataSource } from 'typeorm';
import { eventually } from '../../support/eventually';
import { TestPlinth } from '../../support/plinth';
import { newPerson, signIn, STAFF_PASSWORD } from '../../support/staff';
import { TestProject, TestUser } from '../../support/test-project';

const [OLD, NEW] = ['an-old-master-key-0123456789-0123456789', 'a-new-master-key-0123456789-0123456789'];
/** Nothing listens on this port, so mails stay in the queue. */
const NO_MAIL = { SMTP_URL: 'smtp://127.0.0.1:1' };
const PROJECTS = '/admin/v1/projects';

let first: TestPlinth;
let project: TestProject;
let user: TestUser;
const others: TestPlinth[] = [];
beforeAll(async () => {
  first = await TestPlinth.start({ env: { MASTER_KEY: OLD, ...NO_MAIL } });
  project = await first.createProject();
  // Earlier versions derived the data secret of a project from MASTER_KEY.
  await first.app.get(DataSource).query('update projects set data_secret = null where id = $1', [project.id]);
  await first.admin.patch(`${PROJECTS}/${project.id}`, { name: 'Renamed' });
  user = await project.signUp();
});
afterAll(async () => {
  for (const other of others) await other.stop();
  await first['dropPlatformDatabase']();
});

async function another(env: Record<string, string>): Promise<TestPlinth> {
  const plinth = await TestPlinth.start({ env, replicaOf: first });
  others.push(plinth);
  return plinth;
}

async function masterKeyFinding(plinth: TestPlinth): Promise<string> {
  const { body } = await plinth.admin.post('/admin/v1/doctor', {});
  const found = body.findings.find(({ check }) => check === 'master_key');
  return `${found?.status}: ${found?.message}`;
}

const keysAt = async (plinth: TestPlinth, id: string): Promise<object> => {
  const { status, body } = await plinth.admin.get(`${PROJECTS}/${id}/keys`);
  expect(status).toBe(200);
  return body;
};

it('re-encrypts everything while processes with either key serve, and then needs the new key only', async () => {
  const before = await keysAt(first, project.id);
  const { body: s3Key } = await first.admin.post(`${PROJECTS}/${project.id}/s3-keys`, {});
  // Without SMTP_URL the response has the link of an invitation.
  const inviting = await another({ MASTER_KEY: OLD });
  const staff = await newPerson(inviting, 'operator');
  const { body: factor } = await staff.http.post('/admin/v1/session/factor', { password: STAFF_PASSWORD });
  const totp = new TOTP({ secret: new URL(factor.uri).searchParams.get('secret')! });
  const code = totp.generate({ timestamp: inviting.clock.now() });
  expect((await staff.http.put('/admin/v1/session/factor', { code })).status).toBe(200);
  await others.shift()!.stop();
  await project.client(project.anonKey, null).post(`${project.auth}/reset-password`, { email: user.email });
  await first.admin.post('/admin/v1/invitations', { email: 'waits@example.com', role: 'auditor' });
  expect(await masterKeyFinding(first)).toBe('ok: one master key is in use');

  // Phase 1: all processes read both keys.
  const reader = await another({ MASTER_KEY: OLD, MASTER_KEY_OTHER: NEW, ...NO_MAIL });
  await first.app.close();
  // Phase 2: the processes are restarted one by one and write with the new key.
  const writer = await another({ MASTER_KEY: NEW, MASTER_KEY_OTHER: OLD, ...NO_MAIL });
  for (const [maker, user] of [
    [reader, writer],
    [writer, reader],
  ] as const) {
    const { id } = await maker.createProject();
    expect(await keysAt(user, id)).toEqual(await keysAt(maker, id));
    expect((await user.admin.post(`${PROJECTS}/${id}/sql`, { query: 'select 1' })).status).toBe(200);
  }
  await others.shift()!.stop();
  await eventually(async () =>
    expect(await masterKeyFinding(writer)).toBe('warning: no secret is encrypted under MASTER_KEY_OTHER'),
  );

  await others.shift()!.stop();
  const last = await another({ MASTER_KEY: NEW });
  expect(await masterKeyFinding(last)).toBe('ok: one master key is in use');
  expect(await keysAt(last, project.id)).toEqual(before);
  const { body: s3Keys } = await last.admin.get(`${PROJECTS}/${project.id}/s3-keys`);
  expect(JSON.stringify(s3Keys)).toContain(s3Key.access_key_id);
  const refresh = { refresh_token: user.session.refresh_token };
  expect(
    (await project.client(project.anonKey, null).at(last.baseUrl).post(`${project.auth}/refresh`, refresh))
      .status,
  ).toBe(200);
  last.clock.move(60);
  const later = totp.generate({ timestamp: last.clock.now() });
  const signedIn = await signIn(last, staff.email, { code: later });
  expect([signedIn.status, signedIn.body.error]).toEqual([200, undefined]);
  // Their next attempts would be due in minutes.
  const waiting = await last.app.get<Queue>(getQueueToken('auth-mail')).getDelayed();
  await Promise.all(waiting.map((job) => job.promote()));
  const mails = join(last.dataDir, 'mail');
  await eventually(async () => {
    const texts = readdirSync(mails).map((name) => readFileSync(join(mails, name), 'utf8'));
    for (const to of [user.email, 'waits@example.com'])
      expect(texts.filter((text) => text.includes(`To: ${to}`))).not.toEqual([]);
  });
}, 120_000);

it('refuses to start without a key that secrets are still encrypted under', async () => {
  await expect(TestPlinth.start({ env: { MASTER_KEY: OLD }, replicaOf: first })).rejects.toThrow(
    'MASTER_KEY is not the one',
  );
  await others[0]!.app
    .get(DataSource)
    .query(`insert into platform_facts (name) values ('master-key:0123456789abcdef')`);
  await expect(TestPlinth.start({ env: { MASTER_KEY: NEW }, replicaOf: first })).rejects.toThrow(
    'Some secrets are still encrypted under another key',
  );
});
