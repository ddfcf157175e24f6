/**
 * Attempts by staff of one project to reach another, with foreign ids in paths and bodies and with members that nobody
 * may set.
 */
import type { HttpAnswer } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { fillPath } from '../../support/routes';
import { newPerson, type TestPerson } from '../../support/staff';
import { TestProject } from '../../support/test-project';
import { isOfProject, ROUTE_TABLE, type RouteAccess } from '../../../src/staff/roles/route-table';
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

it('a saved query of another project is not found, whatever the project in the path', async () => {
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

it('webhooks, schedules and keys of another project are not found, and changes in the own project are audited', async () => {
  for (const one of [own, foreign]) await one.sql('create table orders (id int primary key)');
  const hook = { table: 'orders', events: ['INSERT'], url: 'https://example.com/hook' };
  const schedule = { name: 'nightly', cron: '0 3 * * *', sql: 'select 1' };
  const make = async ({ http }: TestPerson, project: TestProject) => {
    const post = (to: string, body: object): Promise<HttpAnswer> =>
      http.unchecked().post(path(to, project), body);
    const [made, planned, s3, named] = [
      await post('webhooks', hook),
      await post('schedules', schedule),
      await post('s3-keys', {}),
      await post('api-keys', { name: 'a', kind: 'secret' }),
    ];
    expect([made, planned, s3, named].map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    const ids = {
      hook: made.body.id,
      schedule: planned.body.id,
      s3: s3.body.access_key_id,
      key: named.body.id,
    };
    const secrets = [made.body.secret, s3.body.secret_access_key, named.body.key];
    return { ids, secrets };
  };
  const attempts = (
    { http }: TestPerson,
    { ids }: Awaited<ReturnType<typeof make>>,
  ): Promise<HttpAnswer>[] => {
    const client = http.unchecked();
    return [
      client.patch(path(`webhooks/${ids.hook}`), { enabled: false }),
      client.post(path(`webhooks/${ids.hook}/secret`), {}),
      client.get(path(`webhooks/${ids.hook}/deliveries`)),
      client.get(path(`webhooks/${ids.hook}/deliveries/${ids.hook}`)),
      client.post(path(`webhooks/${ids.hook}/deliveries/${ids.hook}/retry`), {}),
      client.delete(path(`webhooks/${ids.hook}`)),
      client.patch(path(`schedules/${ids.schedule}`), { enabled: false }),
      client.get(path(`schedules/${ids.schedule}/runs`)),
      client.delete(path(`schedules/${ids.schedule}`)),
      client.delete(path(`s3-keys/${ids.s3}`)),
      client.delete(path(`api-keys/${ids.key}`)),
    ];
  };
  const theirs = await make(foreignAdmin, foreign);
  const statuses = async (person: TestPerson, made = theirs): Promise<number[]> =>
    (await Promise.all(attempts(person, made))).map(({ status }) => status);
  const mine = await make(developer, own);
  for (const person of [admin, developer, chief])
    expect(new Set(await statuses(person))).toEqual(new Set([404]));
  // Malformed ids cause no server error.
  const none = { ids: { hook: '...', schedule: '%00', s3: 'x'.repeat(300), key: '__proto__' }, secrets: [] };
  for (const status of await statuses(chief, none)) expect([400, 404]).toContain(status);
  for (const status of await statuses(viewer, mine)) expect(status).toBe(403);
  expect(await foreignAdmin.http.unchecked().get(path('webhooks', foreign))).toMatchObject({ status: 200 });
  const [changed] = [
    await developer.http.unchecked().patch(path(`webhooks/${mine.ids.hook}`), { enabled: false }),
  ];
  expect(changed.status).toBe(200);
  const client = developer.http.unchecked();
  await client.post(path(`webhooks/${mine.ids.hook}/secret`), {});
  await client.patch(path(`schedules/${mine.ids.schedule}`), { enabled: false });
  for (const to of [
    `webhooks/${mine.ids.hook}`,
    `schedules/${mine.ids.schedule}`,
    `s3-keys/${mine.ids.s3}`,
    `api-keys/${mine.ids.key}`,
  ])
    expect((await client.delete(path(to))).status).toBeLessThan(300);
  const { body, text } = await plinth.admin.get(`/admin/v1/audit-log?project_id=${own.id}&limit=100`);
  const actions = (body as { action: string }[]).map(({ action }) => action);
  for (const action of [
    ...['create', 'update', 'rotate_secret', 'delete'].map((what) => `project.webhook.${what}`),
    ...['create', 'update', 'delete'].map((what) => `project.schedule.${what}`),
    ...['create', 'remove'].map((what) => `project.s3_key.${what}`),
    ...['create', 'revoke'].map((what) => `project.api_key.${what}`),
  ])
    expect(actions).toContain(action);
  for (const secret of mine.secrets) expect(text).not.toContain(secret);
});

describe('a viewer', () => {
  /** A mark in every name and text of the other project. */
  const MARK = 'zebra';
  /** Ids of that project by route parameter. */
  let ids: Record<string, string>;
  let marked: TestProject;
  const ofViewer = ({ roles }: RouteAccess): boolean => roles === null || roles.includes('viewer');
  const routes = Object.entries(ROUTE_TABLE);

  beforeAll(async () => {
    marked = await plinth.createProject({ name: MARK, settings: { locale: 'de' } });
    await marked.sql(`create table ${MARK} (id int primary key); insert into ${MARK} values (1)`);
    const user = await marked.signUp(`${MARK}@example.com`);
    const owner = await newPerson(plinth, null, [{ id: marked.id, role: 'admin' }], `${MARK}@example.org`);
    const post = async (to: string, body: object): Promise<any> => {
      const answer = await owner.http.unchecked().post(path(to, marked), body);
      expect([to, answer.status < 300]).toEqual([to, true]);
      return answer.body;
    };
    await post('migrations', { migrations: [{ version: '1', name: MARK, sql: 'select 1' }] });
    const hook = { table: MARK, events: ['INSERT'], url: `https://example.com/${MARK}` };
    ids = {
      person_id: `${MARK}@example.org`,
      user_id: user.id,
      query_id: (await post('queries', { name: MARK, sql: 'select 1', shared: true })).id,
      webhook_id: (await post('webhooks', hook)).id,
      schedule_id: (await post('schedules', { name: MARK, cron: '0 3 * * *', sql: 'select 1' })).id,
      access_key_id: (await post('s3-keys', { name: MARK })).access_key_id,
      key_id: (await post('api-keys', { name: MARK, kind: 'secret' })).id,
    };
  }, 60_000);

  const send = (route: string, id: string, { http } = viewer): Promise<HttpAnswer> => {
    const [method = '', template = ''] = route.split(' ');
    const address = fillPath(template.replace(':id', id), ids);
    const body = ['POST', 'PUT', 'PATCH'].includes(method) ? { body: {} } : {};
    return http.unchecked().send(method, address, body);
  };

  it('receives nothing of another project from any route that it may read', async () => {
    const faults: unknown[] = [];
    const reads = routes.filter(([route, access]) => route.startsWith('GET ') && ofViewer(access));
    expect(reads.length).toBeGreaterThan(15);
    for (const [route] of reads)
      for (const id of isOfProject(route) ? [own.id, marked.id] : ['none']) {
        const { status, text, headers } = await send(route, id);
        const isForeign = id === marked.id;
        const shown = [text.replaceAll(id, ''), JSON.stringify([...headers])].join();
        const leaks = [MARK, marked.id, ...Object.values(ids)].filter((one) => shown.includes(one));
        if (isForeign ? status !== 404 : status !== 200 && status !== 404) faults.push([route, id, status]);
        if (leaks.length > 0) faults.push([route, leaks]);
      }
    expect(faults).toEqual([]);
    // A staff member with access to the project finds the mark.
    const found = await Promise.all(reads.map(async ([route]) => (await send(route, marked.id, chief)).text));
    expect(found.filter((text) => text.includes(MARK)).length).toBeGreaterThan(4);
  }, 60_000);

  it('changes nothing: each write is refused, both in its own project with foreign ids and in the other project', async () => {
    const before = await marked.sql(`select count(*)::int from ${MARK}`);
    const faults: unknown[] = [];
    const writes = routes.filter(([route, access]) => !route.startsWith('GET ') && !ofViewer(access));
    expect(writes.length).toBeGreaterThan(50);
    for (const [route] of writes)
      for (const id of isOfProject(route) ? [own.id, marked.id] : [marked.id]) {
        const { status } = await send(route, id);
        if (status !== (isOfProject(route) && id === marked.id ? 404 : 403)) faults.push([route, id, status]);
      }
    expect(faults).toEqual([]);
    expect(await marked.sql(`select count(*)::int from ${MARK}`)).toEqual(before);
    const open = routes.filter(([route, access]) => isOfProject(route) && ofViewer(access));
    // The token that this route issues is read-only for viewers.
    expect(open.map(([route]) => route).filter((route) => !route.startsWith('GET '))).toEqual([
      'POST /admin/v1/projects/:id/access-tokens',
    ]);
  }, 60_000);
});

it('an admin of a project cannot grant roles beyond that project', async () => {
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
  // A role in the project does not reduce the rights of an owner of the install.
  await http.put(path(`people/${chief.id}`), { role: 'viewer' });
  const { body } = await chief.http.get('/admin/v1/session');
  expect(body.person.role).toBe('owner');
});

it('members that do not belong to a change are refused or ignored', async () => {
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

it('a personal token has no more rights than its person', async () => {
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
