/** Concurrent requests for one account: each test locks a row until all requests wait for it. */
import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { Secret, TOTP } from 'otpauth';
import { eventually } from '../../support/eventually';
import type { HttpAnswer, HttpClient } from '../../support/http-client';
import { MailServer, tokenIn } from '../../support/mail-server';
import { accessOf, asSuperuser } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import { TestProject, TestUser } from '../../support/test-project';

const MAX_FACTORS = 10;

let smtp: MailServer;
let plinth: TestPlinth;
let project: TestProject;
let database: string;

beforeAll(async () => {
  smtp = await MailServer.start();
  plinth = await TestPlinth.start({
    env: { SMTP_URL: smtp.url, DATABASE_MAX_CONNECTIONS: '40', DATABASE_PROJECT_CONNECTIONS: '20' },
  });
  project = await plinth.createProject();
  ({ database } = await accessOf(plinth, project.id));
});
afterAll(async () => {
  await plinth.stop();
  await smtp.stop();
});

/** Waits until the given number of statements wait for a lock in the project's database. */
async function waiting(client: Client, count: number): Promise<void> {
  await eventually(async () => {
    const { rows } = await client.query(
      `select from pg_stat_activity where datname = $1 and wait_event_type = 'Lock'`,
      [database],
    );
    expect(rows.length).toBeGreaterThanOrEqual(count);
  });
}

/** Locks rows, starts each request once the one before waits for the lock, and releases the lock. */
async function meeting(
  lock: string,
  value: string,
  requests: (() => Promise<HttpAnswer>)[],
): Promise<HttpAnswer[]> {
  return asSuperuser(database, async (watcher) =>
    asSuperuser(database, async (holder) => {
      await holder.query('begin');
      await holder.query(`${lock} for update`, [value]);
      const answers: Promise<HttpAnswer>[] = [];
      for (const request of requests) {
        answers.push(request());
        await waiting(watcher, answers.length);
      }
      await holder.query('commit');
      return Promise.all(answers);
    }),
  );
}

const USER = 'select from auth.users where id = $1';
const SESSIONS = 'select from auth.sessions where user_id = $1';
const FACTORS = 'select from auth.factors where user_id = $1';

const guest = (): HttpClient => project.client(project.anonKey, null);
const signIn = ({ email, password }: TestUser): Promise<HttpAnswer> =>
  guest().post(`${project.auth}/login`, { email, password });
const refresh = ({ session }: TestUser): Promise<HttpAnswer> =>
  guest().post(`${project.auth}/refresh`, { refresh_token: session.refresh_token });
const as = (answer: HttpAnswer): HttpClient =>
  project.client(project.anonKey, answer.body.session.access_token as string);
const profileStatus = async (answer: HttpAnswer): Promise<number> =>
  answer.status === 200 ? (await as(answer).get(`${project.auth}/user`)).status : answer.status;

interface Device {
  readonly id: string;
  readonly secret: string;
}

async function enrol(http: HttpClient): Promise<Device> {
  return (await http.post(`${project.auth}/factors`)).body;
}

function verify(http: HttpClient, { id, secret }: Device): Promise<HttpAnswer> {
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: plinth.clock.now() });
  return http.post(`${project.auth}/factors/${id}/verify`, { code });
}

describe('a sign-in or refresh concurrent with', () => {
  const admin = (id: string) => `${project.auth}/admin/users/${id}`;
  const ENDINGS: [string, (user: TestUser) => Promise<HttpAnswer>][] = [
    ['a ban', ({ id }) => project.service.patch(admin(id), { banned_until: '2999-01-01T00:00:00Z' })],
    [
      'a new password from an administrator',
      ({ id }) => project.service.patch(admin(id), { password: 'another one' }),
    ],
    ['a deletion', ({ id }) => project.service.delete(admin(id))],
    [
      'a new password',
      ({ http, password }) =>
        http.patch(`${project.auth}/user`, { password: 'another one', current_password: password }),
    ],
  ];

  it.each(ENDINGS)('%s leaves no session, in either order', async (_what, end) => {
    for (const order of ['sign-in', 'ending']) {
      const user = await project.signUp();
      const requests = [() => signIn(user), () => end(user)];
      if (order === 'ending') requests.reverse();
      const answers = await meeting(USER, user.id, requests);
      const [signedIn, ended] = order === 'ending' ? answers.toReversed() : answers;
      expect([order, ended?.status]).toEqual([order, 200]);
      expect([order, await profileStatus(signedIn as HttpAnswer)]).toEqual([order, 401]);
    }
  });

  it.each(ENDINGS.slice(0, 3))('%s gives no lasting token, in either order', async (_what, end) => {
    for (const order of ['refresh', 'ending']) {
      const user = await project.signUp();
      const requests = [() => refresh(user), () => end(user)];
      if (order === 'ending') requests.reverse();
      const answers = await meeting(SESSIONS, user.id, requests);
      const refreshed = answers[order === 'ending' ? 1 : 0] as HttpAnswer;
      expect([order, await profileStatus(refreshed)]).toEqual([order, 401]);
    }
  });
});

it('a new address requested concurrently with a new password cannot be confirmed afterwards', async () => {
  for (const order of ['password', 'address']) {
    const user = await project.signUp();
    const email = `user-${randomUUID()}@example.com`;
    const requests = [
      () => project.service.patch(`${project.auth}/admin/users/${user.id}`, { password: 'another one' }),
      () => user.http.patch(`${project.auth}/user`, { email }),
    ];
    await meeting(USER, user.id, order === 'address' ? requests.toReversed() : requests);
    const tokens = await project.sql(`select kind from auth.mailed_tokens where user_id = '${user.id}'`);
    expect([order, tokens]).toEqual([order, []]);
  }
});

it('one of two mailed tokens used concurrently sets the password', async () => {
  const email = `user-${randomUUID()}@example.com`;
  const invited = await project.service.post(`${project.auth}/admin/users/invite`, { email });
  const tokens = [tokenIn(await smtp.mailTo(email))];
  await guest().post(`${project.auth}/reset-password`, { email });
  tokens.push(tokenIn(await smtp.mailTo(email, 2)));
  const requests = tokens.map(
    (token, n) => () => guest().post(`${project.auth}/update-password`, { token, password: `password ${n}` }),
  );
  const answers = await meeting(USER, invited.body.user.id, requests);
  expect(answers.map(({ status }) => status)).toEqual([200, 401]);
  expect((await guest().post(`${project.auth}/login`, { email, password: 'password 0' })).status).toBe(200);
});

describe('second factors', () => {
  it('are never more than ten, even when enrolled concurrently', async () => {
    const user = await project.signUp();
    const requests = Array.from(
      { length: MAX_FACTORS + 4 },
      () => () => user.http.post(`${project.auth}/factors`),
    );
    const answers = await meeting(USER, user.id, requests);
    const made = answers.filter(({ status }) => status === 200);
    const { body } = await user.http.get(`${project.auth}/factors`);
    expect([made.length, body.factors.length]).toEqual([MAX_FACTORS, MAX_FACTORS]);
  });

  it('are verified one at a time: of two concurrent verifications from two sessions, one succeeds', async () => {
    const user = await project.signUp();
    const other = as(await signIn(user));
    const [first, second] = [await enrol(user.http), await enrol(other)];
    const answers = await meeting(FACTORS, user.id, [
      () => verify(user.http, first),
      () => verify(other, second),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 401]);
    expect((await other.get(`${project.auth}/user`)).status).toBe(401);
    const { body } = await as(answers[0] as HttpAnswer).get(`${project.auth}/factors`);
    const verified = (body.factors as { verified_at: string | null }[]).map(
      ({ verified_at }) => verified_at !== null,
    );
    expect(verified).toEqual([true, false]);
  });

  it('do not raise a session that ends concurrently', async () => {
    const user = await project.signUp();
    const device = await enrol(user.http);
    const logout = (): Promise<HttpAnswer> => user.http.post(`${project.auth}/logout`);
    const answers = await meeting(SESSIONS, user.id, [logout, () => verify(user.http, device)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 401]);
  });

  it('are verified and end the other sessions in one transaction', async () => {
    const user = await project.signUp();
    const other = as(await signIn(user));
    const device = await enrol(user.http);
    await project.sql(`
      create function public.refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
      create trigger refuse before update of revoked_at on auth.sessions for each row
        when (new.user_id = '${user.id}' and new.revoked_at is not null) execute function public.refuse()`);
    expect((await verify(user.http, device)).status).not.toBe(200);
    const { body } = await user.http.get(`${project.auth}/factors`);
    expect(body.factors[0]?.verified_at).toBeNull();
    expect((await other.get(`${project.auth}/user`)).status).toBe(200);
    await project.sql('drop trigger refuse on auth.sessions');
    plinth.clock.move(90);
    expect((await verify(user.http, device)).status).toBe(200);
    expect((await other.get(`${project.auth}/user`)).status).toBe(401);
  });

  it('removed concurrently leave sessions of one factor', async () => {
    const user = await project.signUp();
    const first = await enrol(user.http);
    const raised = await verify(user.http, first);
    const second = await enrol(as(raised));
    const strong = await verify(as(raised), second);
    const remove = ({ id }: Device) => as(strong).delete(`${project.auth}/factors/${id}`);
    const answers = await meeting(FACTORS, user.id, [() => remove(first), () => remove(second)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const [{ aal }] = await project.sql(
      `select aal from auth.sessions where user_id = '${user.id}' and revoked_at is null`,
    );
    expect(aal).toBe('aal1');
  });
});
