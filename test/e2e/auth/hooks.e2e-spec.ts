/** Functions that a project calls at sign-in (settings `..._hook`), and their hostile results. */
import { randomUUID } from 'node:crypto';
import { decode } from 'jsonwebtoken';
import { Secret, TOTP } from 'otpauth';
import { eventually, MailServer } from '../../support/mail-server';
import { until } from '../../support/eventually';
import { gotrue, guestOf } from '../../support/gotrue';
import { SHORT_TIMEOUT } from '../../../src/auth/accounts/account-statements';
import { HttpClient } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';

let smtp: MailServer;
let plinth: TestPlinth;
let project: TestProject;
let guest: HttpClient;

const usual = { ...SHORT_TIMEOUT };

beforeAll(async () => {
  // Functions that hang are ended after two seconds in place of five.
  Object.assign(SHORT_TIMEOUT, { text: usual.text.replace("'5s'", "'2s'"), endsAfterMs: 4_000 });
  smtp = await MailServer.start();
  plinth = await TestPlinth.start({ env: { SMTP_URL: smtp.url, AUTH_REQUESTS_PER_MINUTE: '10000' } });
  project = await plinth.createProject({ settings: { site_url: 'https://app.example.com' } });
  guest = guestOf(project);
  await project.sql('create table calls (id serial, event jsonb)');
});
afterAll(async () => {
  await plinth.stop();
  await smtp.stop();
  Object.assign(SHORT_TIMEOUT, usual);
});

const address = (): string => `user-${randomUUID()}@example.com`;
const claimsOf = (token: string) => decode(token) as Record<string, unknown>;
const set = async (settings: object): Promise<void> => {
  const answer = await plinth.admin.patch(`/admin/v1/projects/${project.id}`, { settings });
  expect(answer.status).toBe(200);
};
/** Defines public.hook() and sets it. @param body SQL expression that may use `event` */
async function hook(setting: string, body: string): Promise<void> {
  await project.sql(`truncate calls; create or replace function public.hook(event jsonb) returns jsonb
    language plpgsql volatile security definer set search_path = public as $$ begin
      insert into calls (event) values (event); return ${body}; end $$`);
  await set({ [setting]: 'public.hook' });
}
const calls = async (): Promise<Record<string, unknown>[]> =>
  (await project.sql('select event from calls order by id')).map(({ event }: { event: object }) => event);
const signUp = (email = address()) =>
  guest.post(`${project.auth}/signup`, { email, password: 'correct horse' });
const signIn = (email: string, password = 'correct horse') =>
  guest.post(`${project.auth}/login`, { email, password });

describe('custom_access_token_hook', () => {
  afterAll(() => set({ custom_access_token_hook: null }));

  it('adds claims to the tokens of sign-ups, sign-ins and refreshes, but no reserved claims', async () => {
    await hook(
      'custom_access_token_hook',
      `jsonb_build_object('claims', (event -> 'claims') || '{"plan": "pro", "role": "service_role", "sub": "x", "aal": "aal2",
        "session_id": "x", "exp": 9999999999, "iss": "x", "app_metadata": {"roles": ["editor"]}}')`,
    );
    const email = address();
    const up = (await signUp(email)).body;
    const inn = (await signIn(email)).body;
    const refreshed = (
      await guest.post(`${project.auth}/refresh`, { refresh_token: inn.session.refresh_token })
    ).body;
    for (const { session } of [up, inn, refreshed]) {
      const claims = claimsOf(session.access_token);
      expect(claims).toMatchObject({
        plan: 'pro',
        role: 'authenticated',
        sub: up.user.id,
        aal: 'aal1',
        email,
      });
      expect(claims.app_metadata).toEqual({ roles: ['editor'] });
      expect(claims.exp).toBe(session.expires_at);
      expect(claims.iss).toMatch(/^http/);
    }
    const [event] = await calls();
    expect(event).toMatchObject({
      user_id: up.user.id,
      claims: { sub: up.user.id, email, is_anonymous: false },
    });
  });

  it.each([
    ['null', 500],
    [`'[]'::jsonb`, 500],
    [`'{"claims": 1}'::jsonb`, 500],
    [`jsonb_build_object('claims', jsonb_build_object('x', repeat('x', 5000)))`, 500],
    [`jsonb_build_object('claims', jsonb_build_object('x', repeat('x', 50000000)))`, 500],
    [`('{"claims": ' || repeat('{"a":', 100) || '1' || repeat('}', 101))::jsonb`, 500],
    ['(1 / 0)::text::jsonb', 500],
    [`'{"error": {"http_code": 403, "message": "Your licence has ended"}}'::jsonb`, 403],
    [`'{"error": {"http_code": 200, "message": 5}}'::jsonb`, 403],
  ])('refuses the sign-in when it answers %s', async (body, status) => {
    const email = address();
    await set({ custom_access_token_hook: null });
    await signUp(email);
    await hook('custom_access_token_hook', body);
    const answer = await signIn(email);
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).not.toMatch(/division|hook\(/);
  });

  it('does not end a session when it fails at a refresh', async () => {
    await set({ custom_access_token_hook: null });
    const { session } = (await signUp()).body;
    await hook('custom_access_token_hook', '(1 / 0)::text::jsonb');
    const refresh = () => guest.post(`${project.auth}/refresh`, { refresh_token: session.refresh_token });
    expect((await refresh()).status).toBe(500);
    plinth.clock.move(60);
    expect((await refresh()).status).toBe(500);
    await set({ custom_access_token_hook: null });
    expect((await refresh()).status).toBe(200);
  });
});

describe('before_user_created_hook', () => {
  afterAll(() => set({ before_user_created_hook: null }));

  it('sees who signs up, and refuses with its status and message; no user is created', async () => {
    await hook(
      'before_user_created_hook',
      `case when event -> 'user' ->> 'email' like '%@example.com' then '{}'::jsonb
        else '{"error": {"http_code": 422, "message": "Only example.com"}}' end`,
    );
    expect((await signUp()).status).toBe(201);
    expect((await calls())[0]).toMatchObject({
      metadata: { name: 'before-user-created' },
      user: {
        email: expect.stringContaining('@example.com'),
        is_anonymous: false,
      },
    });
    const email = `${randomUUID()}@elsewhere.org`;
    const refused = await signUp(email);
    expect([refused.status, refused.body.detail]).toEqual([403, 'Only example.com']);
    const byGoTrue = await guest.post(`${gotrue(project)}/signup`, { email, password: 'correct horse' });
    expect([byGoTrue.status, byGoTrue.body.msg]).toEqual([403, 'Only example.com']);
    expect(await project.sql(`select from auth.users where email = '${email}'`)).toEqual([]);
  });

  it('refuses accounts of magic links silently', async () => {
    const email = `${randomUUID()}@elsewhere.org`;
    const asked = await guest.post(`${gotrue(project)}/otp`, { email });
    expect([asked.status, asked.body]).toEqual([200, {}]);
    const known = address();
    await guest.post(`${gotrue(project)}/otp`, { email: known });
    await eventually(() => smtp.to(known).length > 0 || null);
    expect(await project.sql(`select from auth.users where email = '${email}'`)).toEqual([]);
  });

  it('refuses sign-ups while it fails, hangs, or does not exist', async () => {
    for (const body of [
      '(1 / 0)::text::jsonb',
      `'{"decision": 5}'::jsonb`,
      `to_jsonb(pg_sleep(300)::text)`,
    ]) {
      await hook('before_user_created_hook', body);
      const answer = await signUp();
      expect([answer.status, answer.body.detail]).toEqual([
        500,
        "The project's function for before user created failed",
      ]);
    }
    await set({ before_user_created_hook: 'public.nothing' });
    expect((await signUp()).status).toBe(500);
  });
});

describe('password_verification_attempt_hook', () => {
  afterAll(() => set({ password_verification_attempt_hook: null }));

  it('is called for right and wrong passwords, and refuses a right one only by its decision', async () => {
    const email = address();
    const { user } = (await signUp(email)).body;
    await hook(
      'password_verification_attempt_hook',
      `case when event ->> 'valid' = 'true' then '{"decision": "continue"}'::jsonb else '{"decision": "reject", "message": "No"}' end`,
    );
    const wrong = await signIn(email, 'wrong');
    const unknown = await signIn(address(), 'wrong');
    expect([wrong.status, wrong.body]).toEqual([401, unknown.body]);
    expect((await signIn(email)).status).toBe(200);
    expect(await calls()).toEqual([
      { user_id: user.id, valid: false },
      { user_id: null, valid: false },
      { user_id: user.id, valid: true },
    ]);
    await hook(
      'password_verification_attempt_hook',
      `'{"decision": "reject", "message": "Come back tomorrow"}'::jsonb`,
    );
    const refused = await signIn(email);
    expect([refused.status, refused.body.detail]).toEqual([403, 'Come back tomorrow']);
    await hook('password_verification_attempt_hook', '(1 / 0)::text::jsonb');
    expect((await signIn(email, 'wrong')).body).toEqual(wrong.body);
    expect((await signIn(email)).status).toBe(500);
  });
});

describe('mfa_verification_attempt_hook', () => {
  afterAll(() => set({ mfa_verification_attempt_hook: null }));

  it('is called for codes, and may refuse a right one', async () => {
    const { http, id: userId } = await project.signUp();
    const { id, secret } = (await http.post(`${project.auth}/factors`, {})).body;
    const verify = (code: string) => http.post(`${project.auth}/factors/${id}/verify`, { code });
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: plinth.clock.now() });
    const wrong = code === '000000' ? '000001' : '000000';
    await hook('mfa_verification_attempt_hook', `'{"decision": "reject", "message": "Not now"}'::jsonb`);
    expect((await verify(wrong)).status).toBe(401);
    const refused = await verify(code);
    expect([refused.status, refused.body.detail]).toEqual([403, 'Not now']);
    await hook('mfa_verification_attempt_hook', 'null');
    expect((await verify(code)).status).toBe(200);
    expect(await calls()).toEqual([{ user_id: userId, factor_id: id, factor_type: 'totp', valid: true }]);
  });
});

describe('send_email_hook', () => {
  afterAll(() => set({ send_email_hook: null }));

  it('receives the mail with its token, which is then not sent by SMTP', async () => {
    const email = address();
    await signUp(email);
    await hook('send_email_hook', 'null');
    await guest.post(`${project.auth}/reset-password`, { email });
    const event = await eventually(async () => (await calls())[0] ?? null);
    expect(event).toMatchObject({ user: { email }, email_data: { email_action_type: 'reset' } });
    expect(smtp.to(email)).toEqual([]);
    const { token_hash: token } = event.email_data as { token_hash: string };
    const changed = await guest.post(`${project.auth}/update-password`, { token, password: 'another horse' });
    expect(changed.status).toBe(200);
  });
});

it.each([
  'hook',
  'auth.uid',
  'pg_catalog.jsonb_pretty',
  'a.b.c',
  'public."x"',
  'public.x; drop table calls',
  'Public.x',
  '',
])('the settings refuse %j', async (name) => {
  const settings = { before_user_created_hook: name };
  const answer = await plinth.admin.unchecked().patch(`/admin/v1/projects/${project.id}`, { settings });
  expect(answer.status).toBe(400);
});

describe('a hostile function', () => {
  /** @param returns of the function @param body of a plpgsql block */
  async function hostile(body: string, returns = 'jsonb'): Promise<void> {
    await project.sql(`drop function if exists public.hostile(jsonb);
      create function public.hostile(event jsonb) returns ${returns} language plpgsql as $$ begin ${body} end $$`);
    await set({ before_user_created_hook: 'public.hostile' });
  }
  afterAll(() => set({ before_user_created_hook: null }));

  it.each([
    [
      'catches the time limit',
      'loop begin perform pg_sleep(60); exception when query_canceled then null; end; end loop;',
      'jsonb',
    ],
    ['returns endless rows', 'loop return next event; end loop;', 'setof jsonb'],
    ['returns too many rows', 'return query select event from generate_series(1, 100000);', 'setof jsonb'],
    ['returns a large value', 'return to_jsonb(repeat(md5(event::text), 500000));', 'jsonb'],
    ['raises an error about a server that is down', `raise exception 'x' using errcode = '57P03';`, 'jsonb'],
    ['raises an error about missing connections', `raise exception 'x' using errcode = '53300';`, 'jsonb'],
    ['ends its own connection', 'perform pg_terminate_backend(pg_backend_pid()); return event;', 'jsonb'],
    [
      'locks the sessions',
      'lock table auth.sessions in access exclusive mode; perform pg_sleep(60);',
      'jsonb',
    ],
  ])(
    'that %s refuses only sign-ups of its own project',
    async (_what, body, returns) => {
      const neighbour = await plinth.createProject();
      await hostile(body, returns);
      const floods = Promise.all(Array.from({ length: 8 }, () => signUp()));
      // Requests of another project are answered during the flood.
      for (let n = 0; n < 5; n += 1) {
        const answer = await guestOf(neighbour).post(`${neighbour.auth}/signup`, {
          email: address(),
          password: 'correct horse',
        });
        expect(answer.status).toBe(201);
      }
      const statuses = new Set((await floods).map(({ status }) => status));
      for (const status of statuses) expect([429, 500, 503]).toContain(status);
      await set({ before_user_created_hook: null });
      await until(async () => (await signUp()).status === 201);
    },
    60_000,
  );
});
