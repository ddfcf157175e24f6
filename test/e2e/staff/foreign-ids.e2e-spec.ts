/** Ids of another project in paths and bodies, and members that nobody may set: what staff of one project try on another one. */
import type { HttpAnswer } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { newPerson, type TestPerson } from '../../support/staff';
import { TestProject } from '../../support/test-project';
import { withConnection } from '../../../src/database/pools/one-off-connection';

/* oxlint-disable typescript/no-explicit-any -- answers of the product under test */

let plinth: TestPlinth;
let own: TestProject;
let foreign: TestProject;
let admin: TestPerson;
let developer: TestPerson;
let viewer: TestPerson;
let foreignAdmin: TestPerson;
let chief: TestPerson;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  [own, foreign] = [await plinth.createProject(), await plinth.createProject()];
  const of = (role: 'admin' | 'developer' | 'viewer', { id }: TestProject): Promise<TestPerson> =>
    newPerson(plinth, null, [{ id, role }]);
  [admin, developer, viewer] = [await of('admin', own), await of('developer', own), await of('viewer', own)];
  foreignAdmin = await of('admin', foreign);
  chief = await newPerson(plinth, 'owner');
}, 60_000);
afterAll(() => plinth.stop());

const path = (rest: string, project = own): string => `/admin/v1/projects/${project.id}/${rest}`;
const statusOf = async (answer: Promise<HttpAnswer>): Promise<number> => (await answer).status;

it('a saved query of another project is found by nobody, whatever the project in the path', async () => {
  const query = { name: 'Secret', sql: 'select 1', shared: true };
  const saved = await foreignAdmin.http.unchecked().post(path('queries', foreign), query);
  expect(saved.status).toBe(201);
  for (const { http } of [admin, developer]) {
    const unchecked = http.unchecked();
    expect(await statusOf(unchecked.patch(path(`queries/${saved.body.id}`), { name: 'Mine' }))).toBe(404);
    expect(await statusOf(unchecked.delete(path(`queries/${saved.body.id}`)))).toBe(404);
    expect((await unchecked.get(path('queries'))).text).not.toContain('Secret');
  }
});

it('a session of another project is neither cancelled nor ended', async () => {
  const { body } = await plinth.admin.get(path('database', foreign));
  await withConnection({ connectionString: body.owner_url }, async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    for (const act of ['cancel', 'terminate'])
      expect(
        await statusOf(admin.http.unchecked().post(path(`database/activity/${rows[0]?.pid}/${act}`))),
      ).toBe(404);
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });
});

it('roles and members beyond the own project are given by no admin of a project', async () => {
  const http = admin.http.unchecked();
  const attempts: [string, Promise<HttpAnswer>][] = [
    ['invite to the install', http.post('/admin/v1/invitations', { email: 'a@example.com', role: 'owner' })],
    [
      'invite to another project',
      http.post('/admin/v1/invitations', {
        email: 'b@example.com',
        projects: [
          { id: own.id, role: 'viewer' },
          { id: foreign.id, role: 'admin' },
        ],
      }),
    ],
    ['a role of the install', http.put(path(`people/${viewer.id}`), { role: 'owner' })],
    ['another project', http.put(path(`people/${admin.id}`, foreign), { role: 'admin' })],
  ];
  const seen = await Promise.all(
    attempts.map(async ([what, answer]) => [what, (await answer).status] as const),
  );
  for (const [what, status] of seen) expect([what, [400, 403, 404].includes(status)]).toEqual([what, true]);
  // A role of the project takes nothing from an owner of the install.
  await http.put(path(`people/${chief.id}`), { role: 'viewer' });
  const { body } = await chief.http.get('/admin/v1/session');
  expect(body.person.role).toBe('owner');
});

it('members that are no part of a change are refused or left out', async () => {
  const before = (await plinth.admin.get(`/admin/v1/projects/${own.id}`)).body;
  const http = admin.http.unchecked();
  for (const more of [
    { plan: 'enterprise' },
    { server: 'other' },
    { id: foreign.id },
    { database_name: `plinth_${foreign.id}` },
    { owner_role: 'postgres' },
    { jwt_secret: 'x'.repeat(64) },
    { paused: true },
    { __proto__: { plan: 'x' }, constructor: { plan: 'x' } },
    { settings: { storage_quota_bytes: 10 ** 15 } },
    { settings: { __proto__: { max_rows: 1 } } },
  ])
    await http.patch(`/admin/v1/projects/${own.id}`, { ...more });
  const after = (await plinth.admin.get(`/admin/v1/projects/${own.id}`)).body;
  expect({ ...after, updated_at: null }).toEqual({ ...before, updated_at: null });
  expect(await statusOf(viewer.http.unchecked().patch(`/admin/v1/projects/${own.id}`, { name: 'V' }))).toBe(
    403,
  );
});

it('a personal token reaches no further than its person', async () => {
  const made = await admin.http.unchecked().post('/admin/v1/tokens', {
    name: 'wide',
    scopes: ['admin', 'projects:write', 'projects:read', 'sql'],
    projects: [foreign.id],
    role: 'owner',
  });
  const text = JSON.stringify(made.body ?? {});
  const [token] = /plinth_[\w-]{20,}/.exec(text) ?? [];
  if (token === undefined) return expect([400, 403, 404]).toContain(made.status);
  const http = plinth.http.with({ authorization: `Bearer ${token}` }).unchecked();
  expect(await statusOf(http.get(`/admin/v1/projects/${foreign.id}`))).toBe(404);
  return expect(await statusOf(http.get('/admin/v1/people'))).toBe(403);
});
