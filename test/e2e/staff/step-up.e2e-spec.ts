/** Actions for which a staff member first confirms the session, because it may be stolen. */
import { TOTP } from 'otpauth';
import type { HttpAnswer, HttpClient } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { fillPath } from '../../support/routes';
import { SoftwarePasskey } from '../../support/software-passkey';
import { cookieOf, newPerson, personOf, signIn, STAFF_PASSWORD, TestPerson } from '../../support/staff';
import { TestProject } from '../../support/test-project';
import { isOfProject, ROUTE_TABLE } from '../../../src/staff/roles/route-table';

const MINUTE = 60;
const UUID = '00000000-0000-4000-8000-000000000000';
const SENSITIVE = Object.keys(ROUTE_TABLE).filter((route) => ROUTE_TABLE[route]!.stepUp);
const TOKEN = { name: 'CI', scopes: ['read', 'admin'], expires_in: 3_600 };

/** Writes that require no confirmation. A new route must be sensitive, or be listed here with its reason. */
const NOT_SENSITIVE: Readonly<Record<string, readonly string[]>> = {
  'requires the password, the factor or its challenge itself': [
    'POST /admin/v1/session/confirm',
    'PATCH /admin/v1/session/password',
    'POST /admin/v1/session/factor',
    'PUT /admin/v1/session/factor',
    'DELETE /admin/v1/session/factor',
    'POST /admin/v1/passkeys/options',
    'POST /admin/v1/passkeys',
    'DELETE /admin/v1/passkeys/:id',
  ],
  'ends a credential, an unused invitation, or a sender': [
    'DELETE /admin/v1/session',
    'DELETE /admin/v1/sessions/:id',
    'DELETE /admin/v1/tokens/:id',
    'DELETE /admin/v1/invitations/:id',
    'DELETE /admin/v1/projects/:id/api-keys/:key_id',
    'DELETE /admin/v1/projects/:id/s3-keys/:access_key_id',
    'DELETE /admin/v1/projects/:id/webhooks/:webhook_id',
    'DELETE /admin/v1/projects/:id/schedules/:schedule_id',
    'DELETE /admin/v1/servers/:name',
  ],
  'runs an existing configuration, without granting or losing anything': [
    'POST /admin/v1/queues/:name/retry',
    'POST /admin/v1/doctor',
    'POST /admin/v1/upgrade',
    'POST /admin/v1/backups/runs',
    'POST /admin/v1/backups/rehearsals',
    'POST /admin/v1/projects/:id/pause',
    'POST /admin/v1/projects/:id/resume',
    'POST /admin/v1/projects/:id/storage/sweep',
    'POST /admin/v1/projects/:id/failed-mails/:mail_id/retry',
    'POST /admin/v1/projects/:id/webhooks/:webhook_id/deliveries/:delivery_id/retry',
    'POST /admin/v1/projects/:id/database/activity/:pid/cancel',
    'POST /admin/v1/projects/:id/database/activity/:pid/terminate',
    'POST /admin/v1/projects/:id/advice/:advice_id/dismiss',
    'DELETE /admin/v1/projects/:id/advice/:advice_id/dismiss',
    'PATCH /admin/v1/projects/:id/live-tables',
  ],
  'changes names and texts that are not executed': [
    'PATCH /admin/v1/passkeys/:id',
    'POST /admin/v1/projects/:id/queries',
    'PATCH /admin/v1/projects/:id/queries/:query_id',
    'DELETE /admin/v1/projects/:id/queries/:query_id',
  ],
  'without a confirmation only reads, or changes no account and lasts five minutes': [
    'POST /admin/v1/projects/:id/sql',
    'POST /admin/v1/projects/:id/access-tokens',
  ],
};

let plinth: TestPlinth;
let project: TestProject;
let owner: TestPerson;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  plinth.clock.hold();
  project = await plinth.createProject();
  owner = await newPerson(plinth, 'owner');
});
afterAll(() => plinth.stop());

const codeOf = ({ body }: HttpAnswer): unknown => body?.error?.code;
const confirm = (http: HttpClient, body: object): Promise<HttpAnswer> =>
  http.post('/admin/v1/session/confirm', body);
const makeToken = (http: HttpClient): Promise<HttpAnswer> => http.post('/admin/v1/tokens', TOKEN);
const bearer = ({ body }: HttpAnswer): HttpClient =>
  plinth.http.with({ authorization: `Bearer ${body.token}` });
const renewed = (http: HttpClient, answer: HttpAnswer): HttpClient =>
  http.with({ cookie: answer.headers.getSetCookie().at(-1)!.split(';')[0]! });

/** A call without effect: its body is malformed, and no id but the project's exists. */
async function attempt(http: HttpClient, route: string): Promise<HttpAnswer> {
  const [method = '', path = ''] = route.split(' ');
  const address = isOfProject(route) ? path.replace(':id', project.id) : path;
  const body = ['POST', 'PUT', 'PATCH'].includes(method) ? { body: '{"broken' } : {};
  return http.unchecked().send(method, fillPath(address, {}), body);
}

it('every write of the administration is sensitive, or listed with a reason', () => {
  const writes = Object.keys(ROUTE_TABLE).filter((route) => !route.startsWith('GET '));
  const others = writes.filter((route) => !SENSITIVE.includes(route));
  expect(others.sort()).toEqual(Object.values(NOT_SENSITIVE).flat().sort());
});

describe('ten minutes after the sign-in', () => {
  it.each(SENSITIVE)(
    '%s requires another confirmation, which tokens and PLATFORM_ADMIN_KEY cannot give',
    async (route) => {
      const stale = personOf(plinth, await signIn(plinth, owner.email)).http;
      const token = bearer(await makeToken(stale));
      plinth.clock.move(11 * MINUTE);
      const answer = await attempt(stale, route);
      expect([answer.status, codeOf(answer)]).toEqual([403, 'step_up_required']);
      if (route.startsWith('DELETE /admin/v1/projects')) return;
      for (const http of [token, plinth.admin])
        expect(codeOf(await attempt(http, route))).not.toBe('step_up_required');
      const confirmed = await confirm(stale, { password: STAFF_PASSWORD });
      expect(codeOf(await attempt(renewed(stale, confirmed), route))).not.toBe('step_up_required');
    },
  );

  it('a confirmation is valid for ten minutes, and only for the session and cookie that gave it', async () => {
    const [one, other] = await Promise.all([1, 2].map(() => signIn(plinth, owner.email)));
    const [http, elsewhere] = [personOf(plinth, one!).http, personOf(plinth, other!).http];
    expect((await makeToken(http)).status).toBe(201);
    plinth.clock.move(11 * MINUTE);
    const answer = await confirm(http, { password: STAFF_PASSWORD });
    expect(answer.status).toBe(204);
    const current = renewed(http, answer);
    expect((await makeToken(current)).status).toBe(201);
    // A copy of the old cookie works for requests in progress, but not for these actions, and soon ends the session.
    expect((await http.get('/admin/v1/session')).status).toBe(200);
    for (const stale of [http, elsewhere]) expect(codeOf(await makeToken(stale))).toBe('step_up_required');
    plinth.clock.move(11 * MINUTE);
    expect(codeOf(await makeToken(current))).toBe('step_up_required');
    expect((await http.get('/admin/v1/session')).status).toBe(401);
    expect((await current.get('/admin/v1/session')).status).toBe(401);
  });

  it('a developer reads the keys and the password of the database after a confirmation', async () => {
    const developer = await newPerson(plinth, null, [{ id: project.id, role: 'developer' }]);
    plinth.clock.move(11 * MINUTE);
    const [keys, database] = [
      `/admin/v1/projects/${project.id}/keys`,
      `/admin/v1/projects/${project.id}/database`,
    ];
    for (const path of [keys, database])
      expect(codeOf(await developer.http.get(path))).toBe('step_up_required');
    const http = renewed(developer.http, await confirm(developer.http, { password: STAFF_PASSWORD }));
    expect((await http.get(keys)).body.jwt_secret).toBe(project.jwtSecret);
    expect((await http.get(database)).status).toBe(200);
    // Other requests need no confirmation.
    plinth.clock.move(11 * MINUTE);
    expect((await http.get(`/admin/v1/projects/${project.id}`)).status).toBe(200);
  });
});

describe('without a confirmation', () => {
  let stale: HttpClient;
  let confirmed: () => Promise<HttpClient>;
  const sql = (http: HttpClient, query: string): Promise<HttpAnswer> =>
    http.unchecked().post(`/admin/v1/projects/${project.id}/sql`, { query });

  beforeAll(async () => {
    const developer = await newPerson(plinth, null, [{ id: project.id, role: 'developer' }]);
    stale = developer.http;
    confirmed = async () => renewed(stale, await confirm(stale, { password: STAFF_PASSWORD }));
    await project.sql(`create table notes (id int primary key);
      create function grow() returns int language sql as 'insert into notes values (7) returning id';
      create procedure escape() language plpgsql as $$ begin commit; insert into notes values (8); end $$`);
    plinth.clock.move(11 * MINUTE);
  });

  it.each([
    'insert into notes values (1)',
    'select 1; insert into notes values (2)',
    'commit; insert into notes values (3)',
    'set transaction read write; insert into notes values (4)',
    'with one as (insert into notes values (5) returning id) select * from one',
    'select grow()',
    "insert into auth.users (email) values ('thief@example.com')",
    'explain analyze insert into notes values (6)',
    'do $$ begin insert into notes values (9); end $$',
    'create table stolen (id int)',
    'alter default privileges grant all on tables to anon',
    "comment on table notes is 'x'",
    'truncate notes',
    "select setval('auth.audit_log_id_seq', 1)",
  ])('SQL that changes something requires it: %s', async (query) => {
    const answer = await sql(stale, query);
    expect([answer.status, codeOf(answer)]).toEqual([403, 'step_up_required']);
  });

  it.each([
    'do $$ begin set transaction read write; insert into notes values (10); end $$',
    'do $$ begin commit; insert into notes values (11); end $$',
    'call escape()',
    "select set_config('transaction_read_only', 'off', false)",
    'set transaction read write',
  ])('a read-only transaction cannot be made writable: %s', async (query) => {
    expect((await sql(stale, query)).status).toBeGreaterThanOrEqual(400);
  });

  it('SQL that reads does not require it, and no change was made', async () => {
    const read = await sql(stale, "select count(*)::int as count from notes where ';' = ';';");
    expect([read.status, read.body.rows]).toEqual([200, [{ count: 0 }]]);
    expect((await sql(stale, 'select wrong from notes')).body.error.code).toBe('42703');
    expect((await sql(stale, 'select from from')).body.error.code).toBe('42601');
    const http = await confirmed();
    expect((await sql(http, 'select 1; insert into notes values (1)')).status).toBe(200);
    plinth.clock.move(11 * MINUTE);
    stale = http;
  });

  it('a plan does not require it and only reads, even in a confirmed session', async () => {
    const plan = (http: HttpClient, query: string): Promise<HttpAnswer> =>
      http.unchecked().post(`/admin/v1/projects/${project.id}/sql`, { query, read_only: true });
    const http = await confirmed();
    stale = http;
    for (const minutes of [0, 11]) {
      plinth.clock.move(minutes * MINUTE);
      expect((await plan(http, 'explain (format json) insert into notes values (12)')).status).toBe(200);
      expect((await plan(http, 'explain analyze select from notes')).status).toBe(200);
      const write = await plan(http, 'explain analyze insert into notes values (13)');
      expect([write.status, codeOf(write)]).toEqual([400, '25006']);
      const several = await plan(http, 'explain select 1; insert into notes values (14)');
      expect([several.status, codeOf(several)]).toEqual([400, '42601']);
    }
    expect((await sql(stale, 'select from notes where id > 11')).body.row_count).toBe(0);
  });

  it('a token for the API of the project cannot change users and providers', async () => {
    const view = async (http: HttpClient): Promise<HttpClient> => {
      const body = { as: 'claims', claims: { role: 'service_role', unconfirmed: false } };
      const made = await http.post(`/admin/v1/projects/${project.id}/access-tokens`, body);
      const { access_token: token, apikey } = made.body;
      return plinth.http.with({ apikey, authorization: `Bearer ${token}` }).unchecked();
    };
    const users = `/v1/auth/${project.id}/admin/users`;
    const account = { email: 'planted@example.com', password: 'planted password' };
    const http = await view(stale);
    expect((await http.get(users)).status).toBe(200);
    const attempts = [
      ['POST', users, account],
      ['PATCH', `${users}/${UUID}`, { password: 'planted password' }],
      ['PUT', `/v1/auth/${project.id}/admin/providers/google`, {}],
      ['POST', `/p/${project.slug}/auth/v1/admin/users`, account],
      ['POST', `/p/${project.slug}/auth/v1/admin/generate_link`, { type: 'magiclink', ...account }],
      ['POST', `/p/${project.slug}/auth/v1/invite`, account],
      ['POST', `/p/${project.slug}/auth/v1/admin/sso/providers`, { type: 'saml' }],
    ] as const;
    for (const [method, path, body] of attempts) {
      const answer = await http.send(method, path, { body });
      expect([path, answer.status, answer.text]).toEqual([
        path,
        403,
        expect.stringContaining('session/confirm'),
      ]);
    }
    const preview = { kind: 'reset' };
    expect((await http.post(`/v1/auth/${project.id}/admin/mail-preview`, preview)).status).toBe(200);
    const proven = await view(await confirmed());
    expect((await proven.post(users, account)).status).toBe(200);
  });
});

describe('a confirmation', () => {
  it('accepts only a password, a code or a passkey', async () => {
    const person = await newPerson(plinth, 'operator');
    const { uri } = (await person.http.post('/admin/v1/session/factor', { password: STAFF_PASSWORD })).body;
    const code = (): string =>
      new TOTP({ secret: new URL(uri).searchParams.get('secret')! }).generate({
        timestamp: plinth.clock.now(),
      });
    const set = await person.http.put('/admin/v1/session/factor', { code: code() });
    let http = renewed(person.http, set);
    const passkey = new SoftwarePasskey('plinth.test');
    const flow = async (path: string, body?: object): Promise<{ challenge: string; with: HttpClient }> => {
      const { headers, body: answer } = await http.post(path, body);
      const cookie = `${http.headers.cookie}; ${headers.getSetCookie().at(-1)!.split(';')[0]}`;
      return { challenge: answer.options.challenge, with: http.with({ cookie }) };
    };
    const enrolment = await flow('/admin/v1/passkeys/options', { password: STAFF_PASSWORD });
    const credential = passkey.register({ challenge: enrolment.challenge, origin: 'http://plinth.test' });
    expect((await enrolment.with.post('/admin/v1/passkeys', { name: 'Key', credential })).status).toBe(201);
    plinth.clock.move(11 * MINUTE);

    for (const [body, status] of [
      [{}, 400],
      [{ password: STAFF_PASSWORD, code: code() }, 400],
      [{ password: 'wrong password' }, 401],
      [{ code: '000000' }, 401],
      [{ passkey: {} }, 401],
    ] as const)
      expect([body, (await confirm(http, body)).status]).toEqual([body, status]);
    expect(codeOf(await makeToken(http))).toBe('step_up_required');
    for (const kind of ['password', 'code', 'passkey']) {
      const challenge = await flow('/admin/v1/session/passkey/options');
      const given = {
        password: () => STAFF_PASSWORD,
        code,
        passkey: () => passkey.authenticate({ challenge: challenge.challenge, origin: 'http://plinth.test' }),
      }[kind]!();
      const answer = await confirm(kind === 'passkey' ? challenge.with : http, { [kind]: given });
      expect([kind, answer.status]).toEqual([kind, 204]);
      const session = answer.headers.getSetCookie().find((one) => one.startsWith('plinth_staff='))!;
      http = http.with({ cookie: session.split(';')[0]! });
      expect([kind, (await makeToken(http)).status]).toEqual([kind, 201]);
      plinth.clock.move(11 * MINUTE);
    }
  });

  it('cannot be given by a token or by another staff member', async () => {
    const [person, other] = [await newPerson(plinth, 'operator'), await newPerson(plinth, 'operator')];
    const token = bearer(await makeToken(person.http));
    expect(codeOf(await confirm(token, { password: STAFF_PASSWORD }))).toBe('forbidden');
    expect(codeOf(await confirm(plinth.admin, { password: STAFF_PASSWORD }))).toBe('session_required');
    const passkey = new SoftwarePasskey('plinth.test');
    const begun = await other.http.post('/admin/v1/passkeys/options', { password: STAFF_PASSWORD });
    const flowOf = (answer: HttpAnswer, { headers }: HttpClient): string =>
      `${headers.cookie}; ${answer.headers.getSetCookie().at(-1)!.split(';')[0]}`;
    const credential = passkey.register({
      challenge: begun.body.options.challenge as string,
      origin: 'http://plinth.test',
    });
    const enrolling = other.http.with({ cookie: flowOf(begun, other.http) });
    expect((await enrolling.post('/admin/v1/passkeys', { name: 'Key', credential })).status).toBe(201);
    plinth.clock.move(11 * MINUTE);
    const challenge = await person.http.post('/admin/v1/session/passkey/options');
    const proof = passkey.authenticate({
      challenge: challenge.body.options.challenge as string,
      origin: 'http://plinth.test',
    });
    const http = person.http.with({ cookie: flowOf(challenge, person.http) });
    expect(codeOf(await confirm(http, { passkey: proof }))).toBe('passkey_failed');
  });
});

it('a change of the password ends all tokens of the staff member on request', async () => {
  const person = await newPerson(plinth, 'operator');
  const other = await newPerson(plinth, 'operator');
  const [token, others] = [bearer(await makeToken(person.http)), bearer(await makeToken(other.http))];
  const change = (http: HttpClient, current: string, password: string, more: object): Promise<HttpAnswer> =>
    http.patch('/admin/v1/session/password', { current_password: current, password, ...more });
  const kept = await change(person.http, STAFF_PASSWORD, 'another battery', {});
  expect((await token.get('/admin/v1/session')).status).toBe(200);
  const http = person.http.with({ cookie: cookieOf(kept)! });
  expect((await change(http, 'another battery', STAFF_PASSWORD, { end_tokens: true })).status).toBe(200);
  expect((await token.get('/admin/v1/session')).status).toBe(401);
  expect((await others.get('/admin/v1/session')).status).toBe(200);
});
