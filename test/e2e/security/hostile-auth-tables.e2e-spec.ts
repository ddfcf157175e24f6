/**
 * A project's owner changes the types of columns in schema auth and stores values that the original columns
 * could not hold. Each response is a valid record or a clean refusal, and another project is served as before.
 */
import { eventually } from '../../support/eventually';
import { casesOf, shareOf } from '../../support/extent';
import type { HttpAnswer } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import type { TestProject, TestUser } from '../../support/test-project';

let plinth: TestPlinth;
let neighbour: TestProject;
let neighbourUser: TestUser;

beforeAll(async () => {
  plinth = await TestPlinth.start({
    env: { AUTH_REQUESTS_PER_MINUTE: '600000' },
    tuning: { mailsPerHour: 1_000, failuresPerAccount: 1_000 },
  });
  neighbour = await plinth.createProject();
  neighbourUser = await neighbour.signUp();
});
afterAll(() => plinth.stop());

/** Values for columns whose type becomes text. */
const TEXTS: [what: string, sql: string][] = [
  ['6 million letters', `repeat('x', 6000000)`],
  ['nothing', `''`],
  ['a header', `E'a@b.example\\r\\nBcc: c@d.example'`],
  ['a path', `'../../../../etc/passwd'`],
  ['a name of JavaScript', `'__proto__'`],
  ['infinity', `'infinity'`],
  ['a negative number', `'-1'`],
  ['deep JSON', `repeat('{"a":', 3000) || '1' || repeat('}', 3000)`],
  ['a bcrypt hash of cost 31', `'$2b$31$' || repeat('a', 53)`],
];

/** Column, its new type, and values of that type. */
const COLUMNS: [table: string, column: string, type: string, values: [what: string, sql: string][]][] = [
  ...(['email', 'name', 'encrypted_password', 'data'] as const).map((column): (typeof COLUMNS)[number] => [
    'users',
    column,
    'text',
    TEXTS,
  ]),
  ...(
    [
      'created_at',
      'updated_at',
      'email_verified_at',
      'invited_at',
      'last_sign_in_at',
      'banned_until',
    ] as const
  ).map((column): (typeof COLUMNS)[number] => [
    'users',
    column,
    'timestamptz',
    [
      ['infinity', `'infinity'`],
      ['minus infinity', `'-infinity'`],
      ['the year 294276', `'294276-12-31'`],
      ['4713 before Christ', `'4713-01-01 BC'`],
    ],
  ]),
  ['users', 'created_at', 'text', TEXTS],
  [
    'users',
    'data',
    'jsonb',
    [
      ['a list', `'[1]'`],
      ['a number', `'1'`],
      ['null', `'null'`],
      ['6 million letters', `jsonb_build_object('a', repeat('x', 6000000))`],
    ],
  ],
  ['users', 'name', 'text[]', [['a list', `array['a', 'b']`]]],
  ['users', 'name', 'bytea', [['bytes', `'\\x00ff'`]]],
  [
    'sessions',
    'refresh_count',
    'numeric',
    [
      ['a negative number', '-1'],
      ['a huge number', '1e300'],
      ['NaN', `'NaN'`],
    ],
  ],
  ['sessions', 'aal', 'text', TEXTS],
  ['sessions', 'user_agent', 'text', TEXTS],
  ['sessions', 'ip', 'text', TEXTS],
  [
    'sessions',
    'refreshed_at',
    'timestamptz',
    [
      ['infinity', `'infinity'`],
      ['the year 294276', `'294276-12-31'`],
    ],
  ],
  ['factors', 'name', 'text', TEXTS],
  [
    'factors',
    'sealed_secret',
    'bytea',
    [
      ['nothing', `''`],
      ['6 million bytes', `convert_to(repeat('x', 6000000), 'utf8')`],
      ['noise', `'\\x01ff'`],
    ],
  ],
  ['factors', 'created_at', 'timestamptz', [['infinity', `'infinity'`]]],
  ['audit_log', 'details', 'text', TEXTS],
  ['audit_log', 'action', 'text', TEXTS],
  [
    'audit_log',
    'at',
    'timestamptz',
    [
      ['infinity', `'infinity'`],
      ['the year 294276', `'294276-12-31'`],
    ],
  ],
];

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Asserts a refusal in the auth error format, or a response whose records are valid. */
function expectClean(answer: HttpAnswer): void {
  expect([200, 201, 400, 401, 403, 404, 409, 429, 500, 503]).toContain(answer.status);
  expect(answer.text.length).toBeLessThan(100_000);
  expect(answer.text).not.toMatch(/\.ts:|node_modules|at async/);
  if (answer.status >= 400) {
    expect(answer.body).toEqual({ detail: expect.any(String), status_code: answer.status });
    return;
  }
  expectRecords(answer.body);
}

function expectRecords(value: unknown): void {
  if (Array.isArray(value)) value.forEach(expectRecords);
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (name.endsWith('_at') && name !== 'expires_at' && member !== null) expect(member).toMatch(DATE);
    if (name === 'banned_until' && member !== null) expect(member).toMatch(DATE);
    if (name === 'email') expect(String(member)).toMatch(/^[^\p{Cc}]{1,640}$/u);
    if (name === 'user') expect((member as { id: unknown }).id).toMatch(UUID);
    if (name !== 'data') expectRecords(member);
  }
}

/**
 * Calls the routes that read the altered tables, with credentials issued before the change.
 * @param turn with a number, every second route
 */
async function askAll(
  project: TestProject,
  user: TestUser,
  factorId: string,
  turn?: number,
): Promise<HttpAnswer[]> {
  const guest = project.client(project.anonKey, null);
  const credentials = { email: user.email, password: user.password };
  const answers: HttpAnswer[] = [];
  const asks = [
    () => guest.post(`${project.auth}/login`, credentials),
    () => guest.post(`${project.auth}/login`, { ...credentials, password: 'wrong' }),
    () => guest.post(`${project.auth}/refresh`, { refresh_token: user.session.refresh_token }),
    () => user.http.get(`${project.auth}/user`),
    () => user.http.patch(`${project.auth}/user`, {}),
    () => user.http.get(`${project.auth}/sessions`),
    () => user.http.get(`${project.auth}/factors`),
    () => user.http.post(`${project.auth}/factors/${factorId}/verify`, { code: '123456' }),
    () => guest.post(`${project.auth}/reset-password`, { email: user.email }),
    () => project.service.get(`${project.auth}/admin/users`),
    () => project.service.get(`${project.auth}/admin/users/${user.id}`),
    // Altered entries have actions that Plinth never writes.
    () => project.service.unchecked().get(`${project.auth}/admin/audit`),
    () => project.service.get(`${project.auth}/admin/failed-mails`),
  ];
  for (const ask of turn === undefined ? asks : shareOf(asks, turn, 2)) answers.push(await ask());
  return answers;
}

async function expectNeighbourServed(): Promise<void> {
  const { email, password } = neighbourUser;
  const signIn = await neighbour
    .client(neighbour.anonKey, null)
    .post(`${neighbour.auth}/login`, { email, password });
  const user = await neighbourUser.http.get(`${neighbour.auth}/user`);
  expect([signIn.status, user.status, user.body.user.email]).toEqual([200, 200, email]);
}

it.each(COLUMNS.map((column, turn) => [...column, turn] as const))(
  'auth.%s.%s as %s',
  async (table, column, type, values, turn) => {
    const project = await plinth.createProject();
    const user = await project.signUp();
    const factor = await user.http.post(`${project.auth}/factors`, {});
    await project.sql(`
    drop trigger drop_unproved_phone on auth.users;
    do $$ declare name text; begin
      for name in select conname from pg_constraint where conrelid = 'auth.${table}'::regclass and contype = 'c' loop
        execute format('alter table auth.${table} drop constraint %I', name);
      end loop;
    end $$;
    -- Its entries are too short for some values.
    drop index if exists auth.users_created_at;
    alter table auth.${table} alter column ${column} drop default, alter column ${column} drop not null;
    alter table auth.${table} alter column ${column} type ${type} using null`);
    for (const [what, sql] of casesOf(values, 1)) {
      await project.sql(`update auth.${table} set ${column} = ${sql}`);
      for (const answer of await askAll(project, user, factor.body.id, turn)) {
        try {
          expectClean(answer);
        } catch (error) {
          throw new Error(`${what}: ${answer.status} ${answer.text.slice(0, 300)}\n${String(error)}`, {
            cause: error,
          });
        }
      }
    }
    await expectNeighbourServed();
  },
  120_000,
);

it('a ban until infinity applies and is reported as the end of the year 9999', async () => {
  const project = await plinth.createProject();
  const { id, email, password } = await project.signUp();
  await project.sql(`update auth.users set banned_until = 'infinity'`);
  const signIn = await project
    .client(project.anonKey, null)
    .post(`${project.auth}/login`, { email, password });
  expect(signIn.status).toBe(403);
  const { body } = await project.service.get(`${project.auth}/admin/users/${id}`);
  expect(body.user.banned_until).toBe('9999-12-31T23:59:59.999Z');
});

it.each([
  [
    'an error of 6 million letters',
    `raise exception '%', repeat('x', 6000000) using detail = repeat('y', 6000000)`,
  ],
  ['control characters', `raise exception E'a\\x1b]0;b\\x07\\u009b2J\\u202e'`],
  ['an error of any code', `raise exception using errcode = 'PL401', message = '{"role":"service_role"}'`],
  ['a connection error', `raise exception using errcode = '08006', message = 'x'`],
  ['a flood of notices', `for n in 1..50000 loop raise notice '%', repeat('x', 1000); end loop`],
])('a trigger that raises %s', async (_what, body) => {
  const project = await plinth.createProject();
  const user = await project.signUp();
  await project.sql(`create function public.hostile() returns trigger language plpgsql as $f$ begin ${body}; return new; end $f$;
    create trigger hostile before update on auth.users for each row execute function public.hostile();
    create trigger hostile before update on auth.sessions for each row execute function public.hostile()`);
  const answers = await askAll(project, user, user.id);
  for (const answer of answers) {
    expectClean(answer);
    expect(answer.text.length).toBeLessThan(20_000);
    expect(answer.text).not.toMatch(/\\u001b|\u009b|\u202e/);
  }
  await expectNeighbourServed();
});

it.each([
  ['6 million letters', 'jsonb', `jsonb_build_object('a', repeat('x', 6000000))`],
  ['JSON that nests 3,000 levels', 'jsonb', `(repeat('{"a":', 3000) || '1' || repeat('}', 3000))::jsonb`],
  ['half a surrogate pair', 'json', `'{"a":"\\ud800"}'::json`],
  ['NUL', 'json', `'{"a":"\\u0000"}'::json`],
  ['text', 'text', `'no JSON'`],
  ['many rows', 'setof jsonb', `jsonb_build_object('a', repeat('x', 10000)) from generate_series(1, 1000)`],
])('auth.custom_claims() that returns %s issues no token', async (_what, type, expression) => {
  const project = await plinth.createProject();
  const { email, password } = await project.signUp();
  await project.sql(`drop function auth.custom_claims(uuid);
    create function auth.custom_claims(user_id uuid) returns ${type} language sql stable as $f$ select ${expression} $f$`);
  const answer = await project
    .client(project.anonKey, null)
    .post(`${project.auth}/login`, { email, password });
  expect([answer.status, answer.body]).toEqual([500, { detail: expect.any(String), status_code: 500 }]);
  await expectNeighbourServed();
});

it('a mail is sent only to the address it was sealed for', async () => {
  const project = await plinth.createProject();
  const user = await project.signUp();
  await project.sql(`create function public.redirect() returns trigger language plpgsql as $f$ begin
      new.recipient := 'victim@example.com, other@example.com'; return new; end $f$;
    create trigger redirect before insert on auth.outgoing_mails for each row execute function public.redirect()`);
  const client = project.client(project.anonKey, null);
  expect((await client.post(`${project.auth}/reset-password`, { email: user.email })).status).toBe(200);
  await eventually(async () => {
    const [mail] = await project.sql(`select last_error, sent_at from auth.outgoing_mails`);
    expect([mail?.last_error, mail?.sent_at]).toEqual([expect.stringMatching(/recipient/), null]);
  }, 20_000);
});

it('a project with unreadable mail rows does not hide the failed mails of other projects', async () => {
  const project = await plinth.createProject();
  const user = await project.signUp();
  const client = project.client(project.anonKey, null);
  await client.post(`${project.auth}/reset-password`, { email: user.email });
  await project.sql('alter table auth.outgoing_mails rename to gone');
  expect((await plinth.admin.get('/admin/v1/failed-mails')).status).toBe(200);
});

it('POST /sql does not buffer a row above the response limit, and continues', async () => {
  const project = await plinth.createProject();
  const answer = await plinth.admin.post(`/admin/v1/projects/${project.id}/sql`, {
    query: `select repeat('x', 20000000) as a; select 1 as b`,
  });
  expect([answer.status, answer.body.rows]).toEqual([200, [{ b: 1 }]]);
  const large = await plinth.admin.post(`/admin/v1/projects/${project.id}/sql`, {
    query: `select repeat('x', 20000000) as a`,
  });
  expect([large.status, large.body.rows, large.body.truncated]).toEqual([200, [], true]);
});

it('/v1/auth/<slug> works like /v1/auth/<id>, and an unknown slug is 401 like an unknown id', async () => {
  const project = await plinth.createProject();
  const { email, password } = await project.signUp();
  const client = project.client(project.anonKey, null);
  expect((await client.post(`/v1/auth/${project.slug}/login`, { email, password })).status).toBe(200);
  expect((await plinth.http.get(`/v1/auth/${project.slug}/reset`)).status).toBe(200);
  const refusals = await Promise.all(
    ['no-such-project', neighbour.slug, neighbour.id].map((name) =>
      client.post(`/v1/auth/${name}/login`, { email, password }),
    ),
  );
  expect(new Set(refusals.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(refusals[0]?.status).toBe(401);
});
