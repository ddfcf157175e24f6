/** Several PostgreSQL servers: registration, placement of new projects, and one of them that is down. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';
import { eventually } from '../support/eventually';
import type { HttpAnswer } from '../support/http-client';
import { TestPlinth } from '../support/plinth';
import { PostgresProxy } from '../support/postgres-proxy';
import { TestProject } from '../support/test-project';
import { startPostgres } from './support/first-start';

const SERVERS = '/admin/v1/servers';
const NOTES = '/rest/v1/notes';

let directory: string;
let first: EmbeddedPostgres;
let second: EmbeddedPostgres;
let plinth: TestPlinth;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'plinth-servers-'));
  first = await startPostgres({ dataDir: path.join(directory, 'first') });
  second = await startPostgres({ dataDir: path.join(directory, 'second') });
  plinth = await TestPlinth.start({ databaseUrl: first.url });
}, 120_000);
afterAll(async () => {
  await plinth.stop();
  await Promise.all([first.stop(), second.stop()]);
  await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}, 60_000);

const serverOf = async (project: TestProject): Promise<string> =>
  (await plinth.admin.get(`/admin/v1/projects/${project.id}`)).body.server;
const listed = async (name: string): Promise<object | undefined> =>
  (await plinth.admin.get(SERVERS)).body.find((one) => one.name === name);
const change = (name: string, body: object): Promise<HttpAnswer> =>
  plinth.admin.patch(`${SERVERS}/${name}`, body);

async function newProject(body: object = {}): Promise<TestProject> {
  const project = await plinth.createProject(body);
  await project.sql(`create table notes (id int primary key);
    create policy everybody on notes to anon using (true) with check (true)`);
  return project;
}

it('adds a server, and refuses one that cannot be used or whose name is taken', async () => {
  const unusable = await plinth.admin.post(SERVERS, {
    name: 'db3',
    url: 'postgres://nobody:nothing@127.0.0.1:1/x',
  });
  expect(unusable).toMatchObject({ status: 400, body: { error: { code: 'invalid_parameters' } } });
  const added = await plinth.admin.post(SERVERS, { name: 'db2', url: second.url, capacity: 2 });
  const port = Number(new URL(second.url).port);
  expect(added).toMatchObject({ status: 201, body: { name: 'db2', port, status: 'open', reachable: true } });
  expect(added.text).not.toContain(new URL(second.url).password);
  expect((await plinth.admin.post(SERVERS, { name: 'db2', url: second.url })).status).toBe(409);
  expect(await listed('platform')).toMatchObject({ port: Number(new URL(first.url).port), reachable: true });
});

it('places a project on the server with the largest share of free capacity', async () => {
  await newProject({ server: 'platform' });
  const placed = [await newProject(), await newProject()];
  expect(await Promise.all(placed.map(serverOf))).toEqual(['db2', 'platform']);
  await change('platform', { capacity: 0 });
  expect(await serverOf(await newProject())).toBe('db2');
  const refused = await plinth.admin.post('/admin/v1/projects', { name: 'No room', slug: null });
  expect(refused).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
  await change('db2', { capacity: 3 });
  const together = await Promise.all(
    [1, 2, 3].map(() => plinth.admin.post('/admin/v1/projects', { name: 'Last place', slug: null })),
  );
  expect(together.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  await change('platform', { capacity: 1_000 });
});

it('places no project on a draining server unless it is named, and does not remove a server with projects', async () => {
  await change('db2', { status: 'draining', capacity: 1_000 });
  expect(await serverOf(await newProject())).toBe('platform');
  expect(await serverOf(await newProject({ server: 'db2' }))).toBe('db2');
  expect((await plinth.admin.delete(`${SERVERS}/db2`)).status).toBe(409);
  expect((await plinth.admin.delete(`${SERVERS}/platform`)).status).toBe(409);
  expect((await plinth.admin.delete(`${SERVERS}/nowhere`)).status).toBe(404);
  expect((await plinth.admin.post('/admin/v1/projects', { name: 'X', server: 'nowhere' })).status).toBe(404);
});

it('answers 503 with Retry-After for the projects of a server that is down, and the others as before', async () => {
  const [here, there] = [await newProject({ server: 'platform' }), await newProject({ server: 'db2' })];
  const port = Number(new URL(second.url).port);
  expect((await there.anon.post(NOTES, { id: 1 })).status).toBe(201);
  await second.stop();
  await eventually(async () => expect((await there.anon.get(NOTES)).status).toBe(503));
  const down = await there.anon.get(NOTES);
  expect(Number(down.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await here.anon.post(NOTES, { id: 1 })).status).toBe(201);
  expect(await listed('db2')).toMatchObject({ reachable: false, fault: expect.any(String) });
  expect(await listed('platform')).toMatchObject({ reachable: true });
  second = await EmbeddedPostgres.start({
    dataDir: path.join(directory, 'second'),
    settings: { fsync: 'off' },
    port,
  });
  await eventually(async () =>
    expect(await there.anon.get(NOTES)).toMatchObject({ status: 200, body: [{ id: 1 }] }),
  );
}, 60_000);

it('applies a new URL of a server to its projects immediately, and removes the server when they are gone', async () => {
  const other = await newProject({ server: 'db2' });
  const url = new URL(second.url);
  url.hostname = 'localhost';
  expect(await change('db2', { url: url.href })).toMatchObject({ status: 200, body: { host: 'localhost' } });
  const access = await plinth.admin.get(`/admin/v1/projects/${other.id}/database`);
  expect(access.body.host).toBe('localhost');
  expect((await other.anon.get(NOTES)).status).toBe(200);
  const { body } = await plinth.admin.get('/admin/v1/projects?limit=1000');
  for (const { id } of body.filter(({ server }) => server === 'db2'))
    expect((await plinth.admin.delete(`/admin/v1/projects/${id}`)).body.deleted).toBe(true);
  expect((await plinth.admin.delete(`${SERVERS}/db2`)).body).toEqual({ name: 'db2', removed: true });
  const entries = await plinth.admin.get('/admin/v1/audit-log?action=server.remove');
  expect(entries.body[0]).toMatchObject({ action: 'server.remove', details: { name: 'db2' } });
}, 60_000);

it('limits the connections held by a server that drops packets, refuses its requests, and recovers', async () => {
  const proxy = await PostgresProxy.start(new URL(second.url));
  const url = proxy.through(new URL(second.url)).href;
  expect((await plinth.admin.post(SERVERS, { name: 'db3', url })).status).toBe(201);
  const here = await newProject({ server: 'platform' });
  const there = [await newProject({ server: 'db3' }), await newProject({ server: 'db3' })];
  for (const project of [here, ...there]) expect((await project.anon.get(NOTES)).status).toBe(200);

  proxy.freeze();
  // More requests than all connections of this process.
  let left = 60;
  const stuck = Array.from({ length: left }, async (_, n) => {
    const answer = await there[n % 2]?.anon.get(NOTES);
    left -= 1;
    return [answer?.status, Number(answer?.headers.get('retry-after')) > 0];
  });
  const others: number[] = [];
  while (left > 0)
    others.push(
      ...(await Promise.all([1, 2, 3, 4].map(() => here.anon.get(NOTES)))).map(({ status }) => status),
    );
  expect(new Set(others)).toEqual(new Set([200]));
  expect(new Set((await Promise.all(stuck)).map(String))).toEqual(new Set(['503,true']));

  proxy.thaw();
  for (const { anon } of there)
    await eventually(async () => expect((await anon.get(NOTES)).status).toBe(200), 20_000);
  for (const { id } of there) await plinth.admin.delete(`/admin/v1/projects/${id}`);
  await proxy.cut();
}, 90_000);
