/** Named keys of a project: publishable and secret, with a role, an end, and a time of last use. */
import { createClient } from '@supabase/supabase-js';
import { WebSocket } from 'ws';
import { AdminClient } from '../../../src/cli/admin-client';
import { runCli } from '../../../src/cli/run-cli';
import { cliEnvironment } from '../../support/cli-environment';
import { eventually } from '../../support/eventually';
import { ADMIN_KEY, TestPlinth } from '../../support/plinth';
import type { TestProject, TestUser } from '../../support/test-project';

let plinth: TestPlinth;
let replica: TestPlinth;
let project: TestProject;
let other: TestProject;
let alice: TestUser;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  replica = await TestPlinth.start({ replicaOf: plinth });
  [project, other] = await Promise.all([plinth.createProject(), plinth.createProject()]);
  alice = await project.signUp();
  await project.sql(`
    create table notes (id int generated always as identity primary key, body text);
    create policy "everybody adds" on notes for insert with check (true);
    create policy "members read" on notes for select to authenticated using (true);
    create table sales (id int primary key, key_id text default auth.jwt() ->> 'key_id');
    create role ${roleOf(project)} nologin;
    grant ${roleOf(project)} to ${loginOf(project)};
    grant usage on schema public to ${roleOf(project)};
    revoke all on sales from anon, authenticated;
    grant select, insert on sales to ${roleOf(project)};
    create policy "reports read" on sales to ${roleOf(project)} using (true) with check (true);`);
});
afterAll(async () => {
  await replica?.stop();
  await plinth?.stop();
});

const roleOf = ({ id }: TestProject): string => `reporting_${id}`;
const loginOf = ({ id }: TestProject): string => `plinth_${id}_login`;
const keysOf = ({ id } = project): string => `/admin/v1/projects/${id}/api-keys`;

async function newKey(rights: object, of = project): Promise<{ id: string; key: string }> {
  const { status, body } = await plinth.admin.post(keysOf(of), { name: 'test', kind: 'secret', ...rights });
  expect([status, body]).toEqual([201, expect.anything()]);
  return body;
}

const as = (key: string, bearer = key, of = project) => of.client(key, bearer);

describe('a named key', () => {
  it('is shown once, listed without its text, and has the role that fits its kind', async () => {
    const made = await newKey({ name: 'website', kind: 'publishable' });
    expect(made).toEqual({
      id: expect.stringMatching(/^[a-z0-9]{12}$/),
      name: 'website',
      kind: 'publishable',
      role: 'anon',
      created_at: expect.any(String),
      expires_at: null,
      last_used_at: null,
      key: expect.stringMatching(/^plinth_publishable_[\w-]{75}$/),
    });
    const { body } = await plinth.admin.get(keysOf());
    const { key, ...listed } = made;
    expect(body).toContainEqual(listed);
    expect(JSON.stringify(body)).not.toContain(key);
    expect((await newKey({})) as object).toMatchObject({ role: 'service_role' });
  });

  it('with service_role bypasses the policies, and gives its role to other bearers, like the service-role key', async () => {
    const { key } = await newKey({});
    await as(key).post('/rest/v1/notes', { body: 'one' });
    expect((await as(key).get('/rest/v1/notes?select=body')).body).toEqual([{ body: 'one' }]);
    expect((await as(key, alice.accessToken).get('/rest/v1/rpc/none')).status).toBe(404);
    expect((await as(key).get(`/v1/auth/${project.id}/admin/users`)).status).toBe(200);
    expect((await as(project.anonKey, key).get('/rest/v1/notes')).body).toHaveLength(1);
  });

  it('with anon has the rights of the anon key, and a user who signs in with it has the rights of a user', async () => {
    const { key } = await newKey({ kind: 'publishable' });
    expect((await as(key).get('/rest/v1/notes')).body).toEqual([]);
    const user = await as(key).post(`/v1/auth/${project.id}/login`, {
      email: alice.email,
      password: alice.password,
    });
    expect(user.status).toBe(200);
    expect((await as(key, user.body.session.access_token).get('/rest/v1/notes')).body).toHaveLength(1);
    expect((await as(key).get(`/v1/auth/${project.id}/admin/users`)).status).toBe(403);
  });

  it('with a role of the project has the rights of the role, and policies and defaults see its id', async () => {
    const { id, key } = await newKey({ role: roleOf(project) });
    expect((await as(key).post('/rest/v1/sales', { id: 1 })).body).toEqual([{ id: 1, key_id: id }]);
    expect((await as(key).get('/rest/v1/notes')).status).toBe(403);
    expect((await project.anon.get('/rest/v1/sales')).status).toBe(403);
    // The key does not give its role to a bearer.
    expect((await as(key, alice.accessToken).get('/rest/v1/sales')).status).toBe(403);
    await project.sql(`revoke ${roleOf(project)} from ${loginOf(project)}`);
    expect((await as(key).get('/rest/v1/sales')).status).toBe(401);
    await project.sql(`grant ${roleOf(project)} to ${loginOf(project)}`);
    expect((await as(key).get('/rest/v1/sales')).status).toBe(200);
  });

  it('works in an unmodified supabase-js: tables, users, files and channels', async () => {
    const { id, key } = await newKey({});
    const client = createClient(`${plinth.baseUrl}/p/${project.slug}`, key, {
      auth: { persistSession: false, autoRefreshToken: false },
      realtime: { transport: WebSocket as never },
    });
    expect((await client.from('notes').select()).error).toBeNull();
    expect((await client.auth.admin.listUsers()).error).toBeNull();
    expect((await client.storage.createBucket('box')).error).toBeNull();
    expect((await client.storage.from('box').upload('a.txt', 'x')).error).toBeNull();
    const states: string[] = [];
    client.channel('room').subscribe((state) => states.push(state));
    await eventually(async () => expect(states).toContain('SUBSCRIBED'));
    await plinth.admin.delete(`${keysOf()}/${id}`);
    await eventually(async () => expect(states.at(-1)).not.toBe('SUBSCRIBED'));
    await client.realtime.disconnect();
  });

  it('identifies its project on paths without a project, also as the only header where one is enough', async () => {
    const { key } = await newKey({});
    expect((await as(key).unchecked().get('/auth/v1/settings')).status).toBe(200);
    expect((await as(key).unchecked().get('/storage/v1/bucket')).status).toBe(200);
    for (const [apikey, bearer] of [
      [key, null],
      [null, key],
    ] as const)
      expect((await project.client(apikey, bearer).unchecked().get('/storage/v1/bucket')).status).toBe(200);
    const message = { topic: 'room', event: 'hello', payload: {} };
    const sent = await as(key)
      .unchecked()
      .post('/realtime/v1/api/broadcast', { messages: [message] });
    expect(sent.status).toBe(202);
  });

  it('is refused immediately after it is revoked, in every process', async () => {
    const { id, key } = await newKey({});
    const elsewhere = as(key).at(replica.baseUrl);
    expect([
      (await as(key).get('/rest/v1/notes')).status,
      (await elsewhere.get('/rest/v1/notes')).status,
    ]).toEqual([200, 200]);
    expect((await plinth.admin.delete(`${keysOf()}/${id}`)).body).toEqual({ id, revoked: true });
    expect([
      (await as(key).get('/rest/v1/notes')).status,
      (await elsewhere.get('/rest/v1/notes')).status,
    ]).toEqual([401, 401]);
    expect((await as(project.anonKey, key).get('/rest/v1/notes')).status).toBe(401);
    expect((await plinth.admin.delete(`${keysOf()}/${id}`)).status).toBe(404);
  });

  it('expires', async () => {
    const { key } = await newKey({ expires_in: 60 });
    expect((await as(key).get('/rest/v1/notes')).status).toBe(200);
    plinth.clock.move(61);
    expect((await as(key).get('/rest/v1/notes')).status).toBe(401);
    expect((await as(project.anonKey, key).get('/rest/v1/notes')).status).toBe(401);
    plinth.clock.move(-61);
  });

  it('remains valid after a rotation of the two keys, and shows when it was last used', async () => {
    const { id, key } = await newKey({});
    const lastUse = async () => {
      const { body } = await plinth.admin.get(keysOf());
      return body.find((one: { id: string }) => one.id === id).last_used_at;
    };
    expect(await lastUse()).toBeNull();
    await plinth.admin.post(`/admin/v1/projects/${project.id}/keys/rotate`, { grace_seconds: 3600 });
    expect((await as(key).get('/rest/v1/notes')).status).toBe(200);
    expect(Math.abs(Date.parse(await lastUse()) - Date.now())).toBeLessThan(600_000);
  });

  it('is refused for another project, altered, truncated, and without its prefix', async () => {
    const { key } = await newKey({});
    expect((await as(key).get(`/p/${other.slug}/rest/v1/notes`)).status).toBe(401);
    expect((await as(other.serviceKey, key).get('/rest/v1/notes')).status).toBe(401);
    const last = key.endsWith('A') ? 'B' : 'A';
    const moved = key.replace(project.id, other.id);
    const publishable = key.replace('_secret_', '_publishable_');
    for (const forged of [key.slice(0, -1) + last, key.slice(0, -1), `${key}A`, moved, publishable])
      expect([forged, (await as(forged).get('/rest/v1/notes')).status]).toEqual([forged, 401]);
  });
});

describe('the list of keys', () => {
  it.each([
    [{ name: 'x', kind: 'public' }, 'kind'],
    [{ name: '', kind: 'secret' }, 'name'],
    [{ kind: 'secret' }, 'name'],
    [{ name: 'x', kind: 'publishable', role: 'service_role' }, 'service_role'],
    [{ name: 'x', kind: 'secret', role: 'postgres' }, 'postgres'],
    [{ name: 'x', kind: 'secret', role: `no"such'; drop` }, 'no'],
    [{ name: 'x', kind: 'secret', expires_in: 59 }, 'expires_in'],
    [{ name: 'x', kind: 'secret', expires_in: 1e12 }, 'expires_in'],
  ])('refuses %j', async (body, fault) => {
    const answer = await plinth.admin.post(keysOf(), body);
    expect([answer.status, answer.body.error?.code]).toEqual([400, 'invalid_parameters']);
    expect(answer.body.error.message).toContain(fault);
  });

  it('refuses the owner role and the login role', async () => {
    for (const role of [loginOf(project), loginOf(project).replace('_login', '_owner')])
      expect((await plinth.admin.post(keysOf(), { name: 'x', kind: 'secret', role })).status).toBe(400);
  });

  it('has at most a hundred keys, even if keys are created concurrently', async () => {
    const full = await plinth.createProject();
    const make = () => plinth.admin.post(keysOf(full), { name: 'x', kind: 'publishable' });
    const made = [];
    for (let turn = 0; turn < 11; turn += 1)
      made.push(...(await Promise.all(Array.from({ length: 10 }, make))).map(({ status }) => status));
    expect(made.filter((status) => status === 201)).toHaveLength(100);
    expect(made.filter((status) => status === 409)).toHaveLength(10);
  });
});

it('plinth api-keys manages named keys', async () => {
  let out = '';
  const environment = cliEnvironment({
    connect: () => new AdminClient([plinth.baseUrl], ADMIN_KEY),
    out: (text) => void (out += text),
  });
  const cli = async (...args: string[]): Promise<string> => {
    out = '';
    expect(await runCli(['api-keys', ...args], environment)).toBe(0);
    return out;
  };
  const made = JSON.parse(await cli('create', project.slug, 'nightly', '--days', '90', '--json'));
  expect(made).toMatchObject({ name: 'nightly', kind: 'secret', role: 'service_role' });
  expect((Date.parse(made.expires_at) - Date.now()) / 86_400_000).toBeCloseTo(90, 1);
  expect((await as(made.key).get('/rest/v1/notes')).status).toBe(200);
  // An invalid expiry does not create a key without expiry.
  for (const days of ['30d', 'never', '0.5', '3651'])
    expect(await runCli(['api-keys', 'create', project.slug, 'typo', '--days', days], environment)).toBe(2);
  expect(await cli('list', project.slug)).not.toContain('typo');
  expect(await cli('list', project.slug)).toMatch(new RegExp(`${made.id} +nightly`));
  expect(await cli('revoke', project.slug, made.id)).toBe(`Key ${made.id} is revoked.\n`);
  expect((await as(made.key).get('/rest/v1/notes')).status).toBe(401);
});
