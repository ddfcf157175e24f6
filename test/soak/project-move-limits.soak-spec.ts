/**
 * A move of a large project that cannot be completed: the source gives up the slot, has no free slot, or a change is
 * made that the target cannot repeat. The move fails with the reason, the project remains where it was, and nothing is
 * left behind.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Client } from 'pg';
import { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';
import { withConnection } from '../../src/database/pools/one-off-connection';
import { eventually, until } from '../support/eventually';
import type { HttpAnswer } from '../support/http-client';
import { accessOf, asOwner } from '../support/owner-connection';
import { TestPlinth } from '../support/plinth';
import { PostgresProxy } from '../support/postgres-proxy';
import { TestProject } from '../support/test-project';

const MOVED_MS = 120_000;
/** Delay of the target's responses in milliseconds, so that the copy takes long. */
const SLOW_MS = 500;
const KEPT_MIB = 64;
/** A table of more than 32 MiB, because a page holds few of its rows. */
const TABLES = `create table large with (fillfactor = 10) as select n from generate_series(1, 120000) n;
  alter table large add primary key (n);
  create table notes (id int primary key, text text); alter table notes alter text set storage external;
  create policy everybody on notes to anon using (true) with check (true)`;
const SETTINGS = { fsync: 'off', max_replication_slots: '2', max_slot_wal_keep_size: `${KEPT_MIB}MB` };

let directory: string;
let first: EmbeddedPostgres;
let second: EmbeddedPostgres;
let slow: PostgresProxy;
let plinth: TestPlinth;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'plinth-move-limits-'));
  first = await EmbeddedPostgres.start({ dataDir: path.join(directory, 'first'), settings: SETTINGS });
  second = await EmbeddedPostgres.start({
    dataDir: path.join(directory, 'second'),
    settings: { fsync: 'off' },
  });
  slow = await PostgresProxy.start(new URL(second.url));
  plinth = await TestPlinth.start({ databaseUrl: first.url });
  const url = slow.through(new URL(second.url)).href;
  expect((await plinth.admin.post('/admin/v1/servers', { name: 'db2', url })).status).toBe(201);
}, 120_000);
afterEach(() => (slow.lag = 0));
afterAll(async () => {
  await plinth?.stop();
  await slow?.cut();
  await Promise.all([first?.stop(), second?.stop()]);
  await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}, 60_000);

const onSource = <T>(work: (client: Client) => Promise<T>): Promise<T> =>
  withConnection({ connectionString: first.url }, work);

async function newProject(more = ''): Promise<TestProject> {
  const project = await TestProject.create(plinth, { server: 'platform', plan: 'enterprise' });
  await project.sql(`${TABLES};${more}`);
  return project;
}

const begin = ({ id }: TestProject): Promise<HttpAnswer> =>
  plinth.admin.post(`/admin/v1/projects/${id}/move`, { server: 'db2' });
const moveOf = async ({ id }: TestProject): Promise<HttpAnswer['body']> =>
  (await plinth.admin.get(`/admin/v1/projects/${id}/move`)).body;

/** Begins a move, and makes the target slow once rows are copied and changes are kept. */
async function untilCopying(project: TestProject): Promise<void> {
  expect((await begin(project)).status).toBe(202);
  await until(async () => (await moveOf(project)).step === 'copying rows', MOVED_MS);
  slow.lag = SLOW_MS;
}

async function assertStays(project: TestProject, reason: RegExp): Promise<void> {
  await eventually(async () => expect((await moveOf(project)).finished_at).not.toBeNull(), MOVED_MS);
  expect(await moveOf(project)).toMatchObject({ status: 'failed', error: expect.stringMatching(reason) });
  slow.lag = 0;
  expect((await plinth.admin.get(`/admin/v1/projects/${project.id}`)).body.server).toBe('platform');
  await eventually(async () =>
    expect((await project.anon.post('/rest/v1/notes', { id: 1 })).status).toBe(201),
  );
  const { rows: left } = await withConnection({ connectionString: second.url }, (client) =>
    client.query(
      `select datname from pg_database where strpos(datname, $1) > 0
      union all select rolname from pg_roles where strpos(rolname, $1) > 0`,
      [project.id],
    ),
  );
  expect(left).toEqual([]);
  expect(await project.sql('select pubname from pg_publication')).toEqual([]);
  const { rows: slots } = await onSource((client) =>
    client.query(`select slot_name from pg_replication_slots where slot_name ~ '^plinth_move'`),
  );
  expect(slots).toEqual([]);
}

it('fails when the source gives up the log that the move needs (max_slot_wal_keep_size)', async () => {
  const project = await newProject();
  await untilCopying(project);
  let kept = 0;
  await onSource(async (client) => {
    // Writes until PostgreSQL has dropped the slot, or the move has noticed.
    await until(async () => {
      await client.query(
        `select pg_logical_emit_message(false, 'log', repeat('x', 1000000)) from generate_series(1, 32)`,
      );
      await client.query('checkpoint');
      const { rows } = await client.query<{ bytes: number }>(
        `select sum(size)::float8 as bytes from pg_ls_waldir()`,
      );
      kept = Math.max(kept, rows[0]?.bytes ?? 0);
      return (await moveOf(project)).finished_at !== null;
    }, MOVED_MS);
  });
  await assertStays(project, /stopped sending changes/);
  process.stdout.write(`${JSON.stringify({ keptMiB: Math.round(kept / 2 ** 20) })}\n`);
}, 240_000);

it('is refused before it begins while the source has no free replication slot', async () => {
  const project = await newProject();
  await onSource(async (client) => {
    const slots = ['a', 'b'];
    for (const name of slots) await client.query(`select pg_create_physical_replication_slot($1)`, [name]);
    try {
      expect(await begin(project)).toMatchObject({
        status: 409,
        body: { error: { code: 'move_refused', message: expect.stringContaining('max_replication_slots') } },
      });
    } finally {
      for (const name of slots) await client.query('select pg_drop_replication_slot($1)', [name]);
    }
  });
  expect((await plinth.admin.get(`/admin/v1/projects/${project.id}/move`)).status).toBe(404);
}, 120_000);

it('fails when a large object is created during the move, and keeps it', async () => {
  const project = await newProject();
  await untilCopying(project);
  await asOwner(await accessOf(plinth, project.id), (client) =>
    client.query(`select lo_from_bytea(4711, 'kept')`),
  );
  await assertStays(project, /[Ll]arge objects/);
  expect(await project.sql(`select convert_from(lo_get(4711), 'UTF8') as text`)).toEqual([{ text: 'kept' }]);
}, 240_000);

it('fails when a row of more than 64 MiB is written during the move', async () => {
  const project = await newProject();
  await untilCopying(project);
  await asOwner(await accessOf(plinth, project.id), (client) =>
    client.query(`insert into notes select 2, repeat('x', 70 * 1024 * 1024)`),
  );
  await assertStays(project, /A row of more than 64 MiB/);
}, 240_000);

it('fails when its materialized views are slow to refresh', async () => {
  const project = await newProject('create materialized view slow as select pg_sleep(3)::text as slept');
  expect((await begin(project)).status).toBe(202);
  await assertStays(project, /materialized views/);
}, 240_000);

it('fails when the primary key of a table is dropped during the move', async () => {
  const project = await newProject();
  await untilCopying(project);
  await asOwner(await accessOf(plinth, project.id), async (client) => {
    await client.query('alter table notes drop constraint notes_pkey');
    await client.query(`insert into notes values (3, 'a'), (3, 'b')`);
  });
  await assertStays(project, /schema|duplicate key/);
  expect(await project.sql('select count(*)::int as n from notes where id = 3')).toEqual([{ n: 2 }]);
}, 240_000);

it('fails when a partition is created during the move, and keeps its rows', async () => {
  const project = await newProject(`create table parted (id int primary key) partition by range (id);
    create table parted_0 partition of parted for values from (0) to (10)`);
  await untilCopying(project);
  await asOwner(await accessOf(plinth, project.id), async (client) => {
    await client.query('create table parted_1 partition of parted for values from (10) to (20)');
    await client.query('insert into parted values (5), (15)');
  });
  await assertStays(project, /schema/);
  expect(await project.sql('select id from parted order by id')).toEqual([{ id: 5 }, { id: 15 }]);
}, 240_000);
