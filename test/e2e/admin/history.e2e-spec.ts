/**
 * The history of a project: its requests, mails and deliveries can be searched, and are bounded in age, rows and bytes.
 */
import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { HistoryRepository } from '../../../src/install/history/history.repository';
import { History } from '../../../src/install/history/history.service';
import { until } from '../../support/eventually';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { WebhookReceiver } from '../../support/webhook-receiver';

let plinth: TestPlinth;
let replica: TestPlinth;
let project: TestProject;
let other: TestProject;
let receiver: WebhookReceiver;

/* oxlint-disable typescript/no-explicit-any -- bodies of the product under test */

const SECRET = 'a-value-of-a-client';
const TOKEN = `eyJ${'a'.repeat(40)}`;

beforeAll(async () => {
  receiver = await WebhookReceiver.start();
  const options = { env: { WEBHOOK_ALLOWED_HOSTS: receiver.host }, tuning: { historyBytes: 1024 * 1024 } };
  plinth = await TestPlinth.start(options);
  replica = await TestPlinth.start({ ...options, replicaOf: plinth });
  project = await plinth.createProject({ plan: 'pro' });
  other = await plinth.createProject();
  await project.sql(`create table notes (id int primary key, title text check (title <> ''));
    create table words (word text); grant select on words to authenticated;
    create function broken() returns int language sql as $$ select 1/0 $$`);
});
afterAll(async () => {
  await replica.stop();
  await plinth.stop();
  await receiver.stop();
});

const pathOf = (of: TestProject): string => `/admin/v1/projects/${of.id}/history`;
const search = async (query: Record<string, string> = {}, of = project): Promise<any[]> => {
  const params = new URLSearchParams(query);
  const { status, body } = await plinth.admin.get(`${pathOf(of)}?${params.toString()}`);
  expect([status, body]).toEqual([200, expect.any(Array)]);
  return body;
};

it('has the requests of all processes with times, statement and error, without the values of clients', async () => {
  await project.service.post('/rest/v1/notes', { id: 1, title: SECRET });
  await project.service.get(`/rest/v1/notes?title=eq.${SECRET}&select=id`);
  await project.service.at(replica.baseUrl).post('/rest/v1/notes', { id: 1, title: SECRET });
  await project.anon.post('/rest/v1/words', { word: SECRET });
  await project.service.get('/rest/v1/rpc/broken');
  await project.anon.unchecked().get(`/rest/v1/${TOKEN}?${TOKEN}=1`);
  await project.anon.post(`/v1/auth/${project.id}/login`, { email: 'ann@example.com', password: SECRET });
  await project.anon.get(`/p/${project.slug}/storage/buckets/nowhere`);
  await other.service.get('/rest/v1/of-another-project');
  await until(async () => (await search()).length === 8);
  const all = await search();
  expect(JSON.stringify(all)).not.toMatch(/a-value-of|ann@|aaaaaaaa|another-project/);
  const [read] = await search({ search: 'NOTES?title' });
  expect(read).toMatchObject({
    source: 'rest',
    method: 'GET',
    path: '/rest/v1/notes?title=***&select=***',
    status: 200,
    role: 'service_role',
    error: null,
    statement: expect.stringMatching(/^select .*"notes".*\$1/is),
    left_out: 0,
  });
  expect(read.ms_database).toBeGreaterThan(0);
  expect(read.ms_database).toBeLessThanOrEqual(read.ms + 0.1);
  expect(await search({ search: '23505' })).toMatchObject([
    { method: 'POST', status: 409, statement: expect.stringMatching(/^(with|insert)/i) },
  ]);
  const errorsOf = async (query: Record<string, string>): Promise<string[]> =>
    (await search(query)).map(({ source, status, error }) => `${source} ${status} ${error}`).toSorted();
  expect(await errorsOf({ outcome: 'database' })).toEqual([
    'rest 400 22012',
    'rest 403 42501',
    'rest 409 23505',
  ]);
  expect(await errorsOf({ source: 'auth' })).toEqual([expect.stringMatching(/^auth 401 \w+$/)]);
  expect(await errorsOf({ outcome: 'refused', source: 'storage' })).toEqual(['storage 404 bucket_not_found']);
  expect(await search({ outcome: 'failed' })).toEqual([]);
  expect(await search({ method: 'POST', source: 'rest', outcome: 'refused' })).toHaveLength(2);
  expect(await search({ slower: '3600000' })).toEqual([]);
});

it('has mails and deliveries, and tells which failed', async () => {
  const address = 'ben@example.com';
  await project.anon.post(`/v1/auth/${project.id}/signup`, { email: address, password: 'password' });
  await project.anon.post(`/v1/auth/${project.id}/reset-password`, { email: address });
  await until(async () => (await search({ source: 'mail' })).some(({ path }) => path === 'reset'));
  expect((await search({ source: 'mail', search: 'reset' }))[0]).toMatchObject({ error: null, status: null });
  const { status, body: hook } = await plinth.admin.post(`/admin/v1/projects/${project.id}/webhooks`, {
    url: receiver.url('/hook'),
    table: 'notes',
    events: ['INSERT'],
  });
  expect(status).toBe(201);
  await project.service.post('/rest/v1/notes', { id: 2, title: 'b' });
  await until(async () => (await search({ source: 'webhook' })).length > 0);
  expect((await search({ source: 'webhook' }))[0]).toMatchObject({ path: hook.id, status: 200, error: null });
  expect(JSON.stringify(await search())).not.toContain(address);
});

it('pages in order of time, and selects a range of time', async () => {
  const ids = (await search()).map(({ id }) => id as string);
  const found: string[] = [];
  for (let before: string | null = null; ;) {
    const page: any = await plinth.admin.get(
      `${pathOf(project)}?limit=3${before === null ? '' : `&before=${before}`}`,
    );
    found.push(...page.body.map(({ id }: { id: string }) => id));
    before = page.headers.get('x-next-cursor');
    if (before === null) break;
  }
  expect(found).toEqual(ids);
  const all = await search();
  const { at } = all[2];
  const later = await search({ since: at });
  expect(later.length + (await search({ until: at })).length).toBe(all.length);
  expect(later.every((one) => one.at >= at)).toBe(true);
});

it('keeps a part of a burst, failures first, and counts the rest', async () => {
  const busy = await plinth.createProject();
  const history = plinth.app.get(History);
  const [reads, failures] = [150, 30];
  // Noted without requests: on a busy machine all of those are slow, which counts like a failure.
  const entry = { source: 'rest', method: 'GET', path: '/rest/v1/notes' } as const;
  for (let n = 0; n < reads; n += 1) history.note(busy.id, { ...entry, status: 200 });
  for (let n = 0; n < failures; n += 1) history.note(busy.id, { ...entry, status: 404, error: 'PL205' });
  const total = (list: any[]): number => list.reduce((sum, { left_out: lost }) => sum + 1 + lost, 0);
  await until(async () => total(await search({ limit: '500' }, busy)) === reads + failures);
  expect(await search({ outcome: 'refused', limit: '500' }, busy)).toHaveLength(failures);
  expect((await search({ limit: '500' }, busy)).length).toBeLessThan(reads + failures);
});

it('keeps the failures of clients with a key when clients without a key use up the limit of a second', async () => {
  const flooded = await plinth.createProject();
  const history = plinth.app.get(History);
  const preview = `${flooded.storage}/files/${randomUUID()}/preview`;
  const stranger = plinth.http;
  // A request without a key makes the slug known.
  expect((await stranger.get(preview)).status).toBe(404);
  await until(async () => (await search({}, flooded)).length === 1);
  // Uses up the entries of this second for requests that did not fail.
  while (history.admits(flooded.id, false));
  await stranger.get(preview);
  await flooded.service.get('/rest/v1/nowhere');
  await until(async () => (await search({}, flooded)).length > 1);
  expect(await search({}, flooded)).toMatchObject([
    { source: 'rest', left_out: 2 },
    { source: 'storage', left_out: 0 },
  ]);
});

it('is bounded in bytes, rows and days, and is deleted with its project', async () => {
  const repository = plinth.app.get(HistoryRepository);
  const history = plinth.app.get(History);
  const big = await plinth.createProject();
  const count = async (of = big): Promise<number> =>
    (
      await plinth.app
        .get(DataSource)
        .query('select count(*)::int as count from project_history where project_id = $1', [of.id])
    )[0].count;
  const entry = { project_id: big.id, left_out: 0, source: 'rest', path: '/', at: Date.now() } as const;
  const [statement, error] = ['x'.repeat(1_840), 'x'.repeat(2_000)];
  await repository.add(
    Array.from({ length: 600 }, (_, index) => ({ ...entry, at: entry.at + index, statement, error })),
  );
  expect(await count()).toBe(600);
  history.note(big.id, { source: 'rest', path: '/newest' });
  await until(async () => (await count()) === 601);
  await history.keepUp();
  // 1 MiB of entries of 4,001 bytes.
  expect(await count()).toBe(262);
  await repository.bound([big.id, project.id], 10, 1e9);
  expect([await count(), await count(project)]).toEqual([10, 10]);
  await plinth.app
    .get(DataSource)
    .query(
      `update project_history set at = at - interval '7 days' - interval '1 minute' where project_id = $1`,
      [project.id],
    );
  await history.keepUp();
  expect([await count(), await count(project)]).toEqual([10, 0]);
  await plinth.admin.delete(`/admin/v1/projects/${big.id}`);
  expect(await count()).toBe(0);
});

it('replaces characters that PostgreSQL cannot store, and is off with HISTORY_DAYS=0', async () => {
  const odd = await plinth.createProject();
  plinth.app.get(History).note(odd.id, { source: 'other', path: 'a\0b\ud800', role: 'x'.repeat(9_000) });
  await until(async () => (await search({}, odd)).length === 1);
  expect(await search({}, odd)).toMatchObject([{ path: 'a\uFFFDb\uFFFD', role: 'x'.repeat(4_000) }]);
  const off = await TestPlinth.start({ env: { HISTORY_DAYS: '0' }, replicaOf: plinth });
  expect(off.app.get(History).admits(odd.id, true)).toBe(false);
  await off.stop();
});

it.each([
  ['before=1', 'before must be the id of an entry'],
  ['since=yesterday', 'since must be a time'],
  ['source=all', 'source must be one of'],
  ['limit=501', 'limit must not be greater than 500'],
  ['search=%00', 'search should not contain'],
  ['other=1', 'other is unknown'],
])('refuses %s', async (query, message) => {
  const { status, body } = await plinth.admin.get(`${pathOf(project)}?${query}`);
  expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(message)]);
});

it('is 404 for an unknown project, and no key of a project reads it', async () => {
  expect((await plinth.admin.get('/admin/v1/projects/unknown/history')).status).toBe(404);
  expect((await project.service.get(pathOf(project))).status).toBe(401);
});
