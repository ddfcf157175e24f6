/**
 * Mails whose jobs are lost because Redis or the queue's tables were emptied. Token and mail are in the project's
 * database, so each mail is sent once. Also lists failed mails of all projects.
 */
import { Redis } from 'ioredis';
import { MailSweep } from '../../../src/auth/mail/mail-sweep.service';
import { eventually, MailServer, tokenIn } from '../../support/mail-server';
import { asSuperuser } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import { hasRedis, TestRedis } from '../../support/redis-server';
import { TestProject, TestUser } from '../../support/test-project';

const TUNING = { mailRecoveryIntervalMs: 200, mailRetryDelayMs: 60_000 };

const requestReset = async (project: TestProject, { email }: TestUser): Promise<number> =>
  (await project.client(project.anonKey, null).post(`${project.auth}/reset-password`, { email })).status;

/** Waits until the first attempt is recorded, which happens after the response of the SMTP server. */
const attempted = (project: TestProject, { email }: TestUser): Promise<string> =>
  eventually(async () => {
    const [mail] = await project.sql(
      `select last_error from auth.outgoing_mails where recipient = '${email}'`,
    );
    return (mail?.last_error ?? null) as string | null;
  });

/** Searches for lost mails, then requests another mail, which is attempted after the mails that were found. */
async function searched(plinth: TestPlinth, project: TestProject): Promise<TestUser> {
  await plinth.app.get(MailSweep).sweepAll();
  const later = await project.signUp();
  expect(await requestReset(project, later)).toBe(200);
  return later;
}

/** Deletes the mails' jobs while the SMTP server refuses them, and expects each mail exactly once. */
async function losesNothing(plinth: TestPlinth, smtp: MailServer, lose: () => Promise<void>): Promise<void> {
  const projects = [await plinth.createProject(), await plinth.createProject()];
  smtp.mood = 'refuse';
  const users: [TestProject, TestUser][] = [];
  for (const project of projects) {
    for (let n = 0; n < 3; n += 1) {
      const user = await project.signUp();
      expect(await requestReset(project, user)).toBe(200);
      users.push([project, user]);
    }
  }
  for (const [project, user] of users) await attempted(project, user);
  await lose();
  smtp.mood = 'accept';
  // The mail is not sent yet, because the worker that claimed it may still be sending.
  const early = await searched(plinth, projects[0] as TestProject);
  await smtp.mailTo(early.email);
  expect(smtp.mails).toHaveLength(1);
  plinth.clock.move(200);
  for (const [project, user] of users) {
    const mail = await smtp.mailTo(user.email);
    const update = { token: tokenIn(mail), password: 'a new password' };
    const client = project.client(project.anonKey, null);
    expect((await client.post(`${project.auth}/update-password`, update)).status).toBe(200);
  }
  plinth.clock.move(200);
  const late = await searched(plinth, projects[0] as TestProject);
  await smtp.mailTo(late.email);
  for (const [, user] of users) expect(smtp.to(user.email)).toHaveLength(1);
}

describe('on PostgreSQL', () => {
  let smtp: MailServer;
  let plinth: TestPlinth;
  beforeAll(async () => {
    smtp = await MailServer.start();
    plinth = await TestPlinth.start({ env: { SMTP_URL: smtp.url }, tuning: TUNING });
  });
  afterAll(async () => {
    await plinth.stop();
    await smtp.stop();
  });

  it(
    'every mail is sent once after the queue was emptied',
    () =>
      losesNothing(plinth, smtp, () =>
        asSuperuser(plinth.platformDatabase, async (client) => {
          const { rows } = await client.query<{ name: string }>(
            `select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables
           where schemaname = 'queue' and tablename like '%job%'`,
          );
          expect(rows.length).toBeGreaterThan(0);
          await client.query(`truncate ${rows.map(({ name }) => name).join(', ')} cascade`);
        }),
      ),
    60_000,
  );

  it('a mail that waits for its retry is not sent earlier', async () => {
    const project = await plinth.createProject();
    const user = await project.signUp();
    smtp.mood = 'refuse';
    smtp.refusals = 0;
    await requestReset(project, user);
    await attempted(project, user);
    const searches = 3;
    for (let n = 0; n < searches; n += 1) {
      plinth.clock.move(200);
      await attempted(project, await searched(plinth, project));
    }
    expect(smtp.refusals).toBe(1 + searches);
    smtp.mood = 'accept';
  });

  it('lists and counts given-up mails of all projects and sends one again on request', async () => {
    const project = await plinth.createProject({ name: 'Given up' });
    const user = await project.signUp();
    smtp.mood = 'refuse';
    await requestReset(project, user);
    await attempted(project, user);
    await project.sql(
      `update auth.outgoing_mails set failed_at = now(), last_error = '451 try again later' where recipient = '${user.email}'`,
    );
    const listed = async () => {
      const answer = await plinth.admin.get('/admin/v1/failed-mails');
      expect(answer.status).toBe(200);
      return (answer.body as { id: string; recipient: string }[]).find(
        ({ recipient }) => recipient === user.email,
      );
    };
    const failed = (await listed()) as { id: string };
    expect(failed).toEqual({
      project_id: project.id,
      project_slug: project.slug,
      id: expect.any(String),
      kind: 'reset',
      recipient: user.email,
      created_at: expect.any(String),
      attempts: 1,
      last_error: '451 try again later',
    });
    await eventually(async () =>
      /^plinth_failed_mails [1-9]/m.test((await plinth.admin.get('/metrics')).text) ? true : null,
    );
    smtp.mood = 'accept';
    const retry = `/admin/v1/projects/${project.id}/failed-mails/${failed.id}/retry`;
    expect((await plinth.http.post(retry)).status).toBe(401);
    expect((await project.service.post(retry)).status).toBe(401);
    expect((await plinth.admin.post(retry)).body).toEqual({ id: failed.id, queued: true });
    tokenIn(await smtp.mailTo(user.email));
    expect((await plinth.admin.post(retry)).status).toBe(404);
    expect(await listed()).toBeUndefined();
    await eventually(async () =>
      /^plinth_failed_mails 0$/m.test((await plinth.admin.get('/metrics')).text) ? true : null,
    );
    expect((await plinth.admin.get('/admin/v1/failed-mails?limit=0')).status).toBe(400);
    expect((await plinth.http.get('/admin/v1/failed-mails')).status).toBe(401);
  });
});

(hasRedis ? describe : describe.skip)('on Redis', () => {
  let redis: TestRedis;
  let smtp: MailServer;
  let plinth: TestPlinth;
  beforeAll(async () => {
    redis = await TestRedis.start();
    smtp = await MailServer.start();
    plinth = await TestPlinth.start({ env: { SMTP_URL: smtp.url, REDIS_URL: redis.url }, tuning: TUNING });
  });
  afterAll(async () => {
    await plinth.stop();
    await smtp.stop();
    await redis.stop();
  });

  it(
    'every mail is sent once after Redis lost its data',
    () =>
      losesNothing(plinth, smtp, async () => {
        const client = new Redis(redis.url);
        await client.flushall();
        client.disconnect();
      }),
    60_000,
  );
});
