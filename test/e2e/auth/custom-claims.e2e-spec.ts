/** Claims that a project's function adds to access tokens, and the limits of such functions (docs/reference/auth.md). */
import { decode } from 'jsonwebtoken';
import { TestPlinth } from '../../support/plinth';

let plinth: TestPlinth;

beforeAll(async () => {
  plinth = await TestPlinth.start();
});
afterAll(() => plinth.stop());

/** A project with a user and a claims function that returns the given expression. */
async function withClaims(expression: string, language = 'sql') {
  const project = await plinth.createProject();
  const user = await project.signUp();
  const body = language === 'sql' ? `select ${expression}` : expression;
  await project.sql(`create or replace function auth.custom_claims(user_id uuid) returns jsonb
    language ${language} stable as $f$ ${body} $f$`);
  const guest = project.client(project.anonKey, null);
  const { email, password } = user;
  return {
    project,
    user,
    signIn: () => guest.post(`${project.auth}/login`, { email, password }),
    refresh: () => guest.post(`${project.auth}/refresh`, { refresh_token: user.session.refresh_token }),
  };
}

it('cannot change identity, role or expiry', async () => {
  const { project, user, signIn } =
    await withClaims(`jsonb_build_object('team', 'blue', 'sub', 'x', 'role', 'service_role',
    'email', 'x', 'session_id', 'x', 'aal', 'aal2', 'iat', 1, 'exp', 99999999999, 'iss', 'x', 'aud', 'x', 'nbf', 1,
    'jti', 'x', 'project_id', 'x', 'ref', 'x', '__proto__', 'x', 'constructor', 'x', 'toString', 1)`);
  const { access_token } = (await signIn()).body.session;
  const claims = decode(access_token) as Record<string, unknown>;
  expect(claims).toMatchObject({
    team: 'blue',
    sub: user.id,
    role: 'authenticated',
    email: user.email,
    aal: 'aal1',
  });
  expect(claims.exp).toBeLessThan(99_999_999_999);
  expect(Object.keys(claims)).not.toEqual(expect.arrayContaining(['project_id']));
  expect((await project.client(project.anonKey, access_token).get(`${project.auth}/user`)).status).toBe(200);
});

it('are computed again when the session is refreshed', async () => {
  const { refresh } = await withClaims(`'{"team":"green"}'::jsonb`);
  const { access_token } = (await refresh()).body.session;
  expect(decode(access_token)).toMatchObject({ team: 'green' });
});

it.each([
  ['fails', `begin raise exception 'no'; end`, 'plpgsql'],
  ['returns a list', `'["a"]'::jsonb`, 'sql'],
  ['answers text', `'"a"'::jsonb`, 'sql'],
  ['returns too much text', `jsonb_build_object('a', repeat('x', 5000))`, 'sql'],
  ['returns too many bytes', `jsonb_build_object('a', repeat('語', 3000))`, 'sql'],
  ['returns deeply nested lists', `(repeat('{"a":[', 200) || repeat(']}', 200))::jsonb`, 'sql'],
  ['returns a number beyond a double', `'{"a":1e400}'::jsonb`, 'sql'],
])('issue no token when the function %s, and do not reveal the error', async (_what, body, language) => {
  const { signIn, refresh } = await withClaims(body, language);
  for (const answer of [await signIn(), await refresh()]) {
    expect(answer.status).toBeGreaterThanOrEqual(500);
    expect(answer.body).toEqual({ detail: expect.any(String), status_code: answer.status });
    expect(answer.text).not.toMatch(/custom_claims|access_token/);
  }
});

it('may be null, which adds no claims', async () => {
  const { signIn } = await withClaims('null::jsonb');
  expect((await signIn()).status).toBe(200);
});

it('are awaited for only a few seconds', async () => {
  const { project, signIn } = await withClaims(
    `begin perform pg_sleep(600); return '{}'::jsonb; end`,
    'plpgsql',
  );
  expect((await signIn()).status).toBeGreaterThanOrEqual(500);
  expect((await project.anon.get(`${project.storage}/buckets`)).status).toBe(200);
});

it("run with the login role's privileges, not the owner's or a superuser's", async () => {
  const { signIn } = await withClaims(`jsonb_build_object('who', current_user)`);
  const { access_token } = (await signIn()).body.session;
  expect((decode(access_token) as { who: string }).who).toMatch(/^plinth_.*_login$/);
});
