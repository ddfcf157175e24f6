/** "View as": tokens with which staff see a project as another user. They are read-only for staff who may only read. */
import { decode, JwtPayload } from 'jsonwebtoken';
import { HttpClient } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { fillPath, guardedRoutesOf } from '../../support/routes';
import { newPerson, TestPerson } from '../../support/staff';
import { TestProject, TestUser } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;
let user: TestUser;
let developer: TestPerson;
let viewer: TestPerson;
let auditor: TestPerson;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ plan: 'enterprise' });
  user = await project.signUp();
  const member = (role: 'developer' | 'viewer'): Promise<TestPerson> =>
    newPerson(plinth, null, [{ id: project.id, role }]);
  [developer, viewer, auditor] = [
    await member('developer'),
    await member('viewer'),
    await newPerson(plinth, 'auditor'),
  ];
  await project.sql(`
    create table notes (id int primary key, owner uuid, team text);
    create policy own on notes for select using (owner = auth.uid() or team = auth.jwt() ->> 'team');
    insert into notes values (1, '${user.id}', null), (2, gen_random_uuid(), 'red');
    create or replace function auth.custom_claims(user_id uuid) returns jsonb language sql as $$ select '{"team": "blue"}'::jsonb $$`);
  await project.sql(
    'create or replace function seen() returns bigint language sql stable as $$ select count(*) from notes $$',
  );
});
afterAll(() => plinth.stop());

interface View {
  readonly http: HttpClient;
  readonly token: string;
  readonly readOnly: boolean;
}

async function view(person: Pick<TestPerson, 'http'>, body: object): Promise<View> {
  const answer = await person.http.post(`/admin/v1/projects/${project.id}/access-tokens`, body);
  if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
  const { access_token: token, apikey, read_only: readOnly } = answer.body;
  return { http: project.client(apikey, token), token, readOnly };
}

const idsSeen = async ({ http }: View): Promise<number[]> =>
  ((await http.get('/rest/v1/notes?select=id&order=id')).body as { id: number }[]).map(({ id }) => id);

describe('a view', () => {
  it('sees what the selected user sees', async () => {
    for (const person of [developer, viewer, auditor]) {
      expect(await idsSeen(await view(person, { as: 'service_role' }))).toEqual([1, 2]);
      expect(await idsSeen(await view(person, { as: 'anon' }))).toEqual([]);
      expect(await idsSeen(await view(person, { as: 'user', user_id: user.id }))).toEqual([1]);
      const claims = { role: 'authenticated', team: 'red' };
      expect(await idsSeen(await view(person, { as: 'claims', claims }))).toEqual([2]);
    }
    // The token has the custom claims of the user.
    const { token } = await view(viewer, { as: 'user', user_id: user.id });
    expect(decode(token)).toMatchObject({ sub: user.id, email: user.email, team: 'blue', read_only: true });
  });

  it('is refused for unknown users, and if the body names no user', async () => {
    const path = `/admin/v1/projects/${project.id}/access-tokens`;
    for (const user_id of ['00000000-0000-4000-8000-000000000000', 'nonsense'])
      expect((await viewer.http.post(path, { as: 'user', user_id })).status).toBe(404);
    for (const body of [
      { as: 'user' },
      { as: 'claims' },
      { as: 'anon', user_id: user.id },
      { as: 'claims', claims: { sub: 5 } },
      { as: 'claims', claims: { role: ['service_role'] } },
      { as: 'claims', claims: { long: 'x'.repeat(5_000) } },
    ])
      expect([body, (await viewer.http.post(path, body)).status]).toEqual([body, 400]);
  });

  it('never shows the service-role key, and ends after five minutes', async () => {
    const { http, token } = await view(viewer, { as: 'service_role' });
    expect(http.headers.apikey).toBe(project.anonKey);
    expect(token).not.toBe(project.serviceKey);
    plinth.clock.move(400);
    expect((await http.get('/rest/v1/notes')).status).toBe(401);
  });

  it('has the lifetime, project and rights that Plinth sets, whatever the custom claims are', async () => {
    const forever = {
      exp: 4_102_444_800,
      iat: 0,
      nbf: 0,
      project_id: 'x',
      ref: 'x',
      iss: 'x',
      read_only: false,
    };
    const claims = { ...forever, session_id: user.id, role: 'service_role' };
    const { token, http } = await view(viewer, { as: 'claims', claims });
    const signed = decode(token) as JwtPayload;
    expect(signed).toMatchObject({ project_id: project.id, read_only: true, iss: 'plinth-view' });
    expect(signed.exp! - signed.iat!).toBe(300);
    expect(signed).not.toHaveProperty('session_id');
    expect((await http.delete('/rest/v1/notes?id=eq.1')).status).toBe(403);
  });

  it('may write for a staff member who may write, but not for a token without the scope write', async () => {
    const writing = await view(developer, { as: 'service_role' });
    expect(writing.readOnly).toBe(false);
    const row = { id: 3, owner: null, team: null };
    expect((await writing.http.post('/rest/v1/notes', row)).status).toBe(201);
    expect((await writing.http.delete('/rest/v1/notes?id=eq.3')).status).toBe(200);
    const made = await developer.http.post('/admin/v1/tokens', {
      name: 't',
      scopes: ['read'],
      expires_in: 60,
    });
    const reading = plinth.http.with({ authorization: `Bearer ${made.body.token}` });
    const { readOnly, http } = await view({ http: reading }, { as: 'service_role' });
    expect(readOnly).toBe(true);
    expect((await http.post('/rest/v1/notes', row)).status).toBe(403);
  });

  it('is in the audit log with the staff member', async () => {
    await view(viewer, { as: 'user', user_id: user.id });
    const { body } = await plinth.admin.get(
      `/admin/v1/audit-log?action=project.view&project_id=${project.id}`,
    );
    expect(body[0]).toMatchObject({
      actor: `${viewer.email} (${viewer.id})`,
      details: { as: 'user', sub: user.id, role: 'authenticated', read_only: true },
    });
  });
});

describe("a project's SQL, to which browsers also send the cookie of the administration", () => {
  it('can neither read nor set that cookie, nor clear the data of the browser', async () => {
    await project.sql(`
      create function cookies() returns jsonb language sql stable as $$ select jsonb_build_object(
        'cookies', current_setting('request.cookies')::jsonb,
        'header', current_setting('request.headers')::jsonb -> 'cookie') $$;
      create function plant() returns int language plpgsql stable as $$ begin
        perform set_config('response.headers', '[{"Set-Cookie": "plinth_staff=mine; Path=/"},
          {"set-cookie": "=__Host-plinth_staff=mine"}, {"Set-Cookie": "own=1"}, {"Clear-Site-Data": "\\"*\\""}]', true);
        return 1; end $$;
      create function fail() returns int language plpgsql stable as $$ begin
        raise sqlstate 'PGRST' using message = '{"code": "123", "message": "no"}',
          detail = '{"status": 400, "headers": {"Set-Cookie": "plinth_staff=mine"}}'; end $$`);
    const { cookie } = viewer.http.headers as { cookie: string };
    const { http } = await view(viewer, { as: 'anon' });
    const call = (name: string, header: string): ReturnType<HttpClient['get']> =>
      http.with({ cookie: header }).get(`/rest/v1/rpc/${name}`);
    expect((await call('cookies', `a=1; ${cookie}; b=2`)).body).toEqual({
      cookies: { a: '1', b: '2' },
      header: 'a=1; b=2',
    });
    expect((await call('cookies', `__Host-${cookie}`)).body).toEqual({ cookies: {}, header: null });
    const planted = await call('plant', 'a=1');
    expect([planted.status, planted.headers.getSetCookie()]).toEqual([
      200,
      [`own=1; Path=/p/${project.slug}`],
    ]);
    expect(planted.headers.has('clear-site-data')).toBe(false);
    const failed = await call('fail', 'a=1');
    expect([failed.status, failed.headers.getSetCookie()]).toEqual([400, []]);
  });
});

describe('a token that may only read', () => {
  const UNSAFE = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
  const RULES: readonly string[] = ['bearer', 'user', 'session', 'service_role'];

  it('gets 403 for every change, on every route of every area', async () => {
    const { http } = await view(viewer, { as: 'service_role' });
    const names = { project_id: project.id, project_slug: project.slug };
    const routes = guardedRoutesOf(plinth.app).filter(
      ({ rule, method }) => RULES.includes(rule) && UNSAFE.has(method),
    );
    for (const area of [/\/v1\/auth\//, /\/storage\//, /\/rest\/v1\//])
      expect(routes.some(({ path }) => area.test(path))).toBe(true);
    for (const { method, path } of routes) {
      const answer = await http.unchecked().send(method, fillPath(path, names), { body: '{"broken' });
      expect([method, path, answer.status, answer.text]).toEqual([
        method,
        path,
        403,
        // GoTrue has its own message for a forbidden action.
        expect.stringMatching(/These credentials may only read|"error_code":"not_admin"/),
      ]);
    }
  });

  it('reads in every area, and calls functions that change nothing', async () => {
    const { http } = await view(viewer, { as: 'service_role' });
    for (const path of [
      `${project.auth}/admin/users`,
      `${project.storage}/buckets`,
      '/rest/v1/notes?select=id',
      '/rest/v1/rpc/seen',
    ])
      expect([path, (await http.get(path)).status]).toEqual([path, 200]);
  });

  it('is not accepted as apikey, which would give its role to another token', async () => {
    const { token } = await view(viewer, { as: 'service_role' });
    for (const bearer of [user.accessToken, project.anonKey, token]) {
      const http = project.client(token, bearer);
      expect((await http.post('/rest/v1/notes', { id: 9 })).status).toBe(401);
      expect((await http.get('/rest/v1/notes')).status).toBe(401);
    }
  });
});
