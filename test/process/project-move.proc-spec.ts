/** A project moves between PostgreSQL servers while it is in use. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Client } from 'pg';
import type { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';
import { withConnection } from '../../src/database/pools/one-off-connection';
import { MoveRecovery } from '../../src/move/move-recovery.service';
import { contentOf, OBJECTS, schemaOf } from '../support/catalog-copies';
import { EveryChange, CHANGING_TABLES } from '../support/every-change';
import { eventually, until } from '../support/eventually';
import type { HttpAnswer } from '../support/http-client';
import { MoveLoad } from '../support/move-load';
import { accessOf, asOwner, sqlstateOf } from '../support/owner-connection';
import { TestPlinth } from '../support/plinth';
import { sha256, signS3 } from '../support/s3-signature';
import { TestProject } from '../support/test-project';
import { upload } from '../support/uploads';
import { startPostgres } from './support/first-start';

const MOVED_MS = 60_000;
/** Between the requests of a client. */
const PAUSE_MS = 5;
/** A table of more than 32 MiB, because a page holds few of its rows. */
const LARGE = 'create table large with (fillfactor = 10) as select n from generate_series(1, 120000) n';

let directory: string;
let first: EmbeddedPostgres;
let second: EmbeddedPostgres;
let plinth: TestPlinth;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'plinth-move-'));
  first = await startPostgres({ dataDir: path.join(directory, 'first') });
  second = await startPostgres({
    dataDir: path.join(directory, 'second'),
    settings: { wal_level: 'replica' },
  });
  plinth = await TestPlinth.start({ databaseUrl: first.url });
  const added = await plinth.admin.post('/admin/v1/servers', { name: 'db2', url: second.url });
  expect(added.status).toBe(201);
}, 120_000);
afterAll(async () => {
  await plinth.stop();
  await Promise.all([first.stop(), second.stop()]);
  await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}, 60_000);

const begin = ({ id }: TestProject, body: object): Promise<HttpAnswer> =>
  plinth.admin.post(`/admin/v1/projects/${id}/move`, body);

async function ended({ id }: TestProject): Promise<HttpAnswer['body']> {
  const read = (): Promise<HttpAnswer> => plinth.admin.get(`/admin/v1/projects/${id}/move`);
  await eventually(
    async () => expect((await read()).body).not.toMatchObject({ finished_at: null }),
    MOVED_MS,
  );
  return (await read()).body;
}

async function move(project: TestProject, body: object): Promise<HttpAnswer['body']> {
  expect(await begin(project, body)).toMatchObject({ status: 202, body: { status: 'running' } });
  return ended(project);
}

/** Databases and roles of the project on a server. */
async function tracesOn({ url }: EmbeddedPostgres, { id }: TestProject): Promise<string[]> {
  return withConnection({ connectionString: url }, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select datname as name from pg_database where strpos(datname, $1) > 0
       union all select rolname from pg_roles where strpos(rolname, $1) > 0`,
      [id],
    );
    return rows.map(({ name }) => name);
  });
}

/** Roles of the project with their passwords, memberships, privileges on the database and settings. */
async function rolesOn({ url }: EmbeddedPostgres, { id }: TestProject): Promise<unknown[]> {
  return withConnection({ connectionString: url }, async (client) => {
    const { rows } = await client.query(
      `select r.rolname, r.rolcanlogin, r.rolinherit, r.rolcreaterole, r.rolconnlimit,
         case when r.rolname ~ 'report' then r.rolpassword end as password,
         has_database_privilege(r.oid, d.oid, 'connect') as connects,
         shobj_description(d.oid, 'pg_database') as comment,
         array(select concat_ws(' ', m.roleid::regrole, m.admin_option) from pg_auth_members m
               where m.member = r.oid group by 1 order by 1) as memberships,
         array(select unnest(s.setconfig) from pg_db_role_setting s
               where s.setrole in (0, r.oid) and s.setdatabase in (0, d.oid) order by 1) as settings
       from pg_authid r, pg_database d
       where strpos(r.rolname, $1) > 0 and strpos(d.datname, $1) > 0 order by 1`,
      [id],
    );
    return rows;
  });
}

const newProject = (): Promise<TestProject> =>
  TestProject.create(plinth, { server: 'platform', plan: 'enterprise' });

it('moves every object, users with their sessions, files, settings and roles', async () => {
  const project = await newProject();
  const access = await accessOf(plinth, project.id);
  await asOwner(access, (client) =>
    client.query(`${OBJECTS}
      create role "plinth_${project.id}_report" login password 'of the report';
      grant connect on database "${access.database}" to "plinth_${project.id}_report";
      grant "plinth_${project.id}_report" to anon; grant select on typed to "plinth_${project.id}_report";
      alter database "${access.database}" set work_mem to '7MB'; comment on database "${access.database}" is 'mine'`),
  );
  await project.service.post(`${project.storage}/buckets`, { name: 'box' });
  const { body: file } = await upload(project.service, project.storage, 'box', 'the bytes');
  const user = await project.signUp();
  const named = { name: 'report', kind: 'secret' };
  const { key } = (await plinth.admin.post(`/admin/v1/projects/${project.id}/api-keys`, named)).body;
  const { body: s3 } = await plinth.admin.post(`/admin/v1/projects/${project.id}/s3-keys`, {});
  const roles = await rolesOn(first, project);
  expect(roles.length).toBe(3);
  const before = [await schemaOf(access.database, first.url), await contentOf(access.database, first.url)];

  const moved = await move(project, { server: 'db2' });
  expect(moved).toMatchObject({ status: 'done', error: null, from: 'platform', to: 'db2' });
  expect((await plinth.admin.get(`/admin/v1/projects/${project.id}`)).body.server).toBe('db2');
  const after = [await schemaOf(access.database, second.url), await contentOf(access.database, second.url)];
  expect(after).toEqual(before);
  expect(await tracesOn(first, project)).toEqual([]);

  expect((await user.http.get(`${project.auth}/user`)).body.user.id).toBe(user.id);
  const refreshed = await project.anon.post(`${project.auth}/refresh`, {
    refresh_token: user.session.refresh_token,
  });
  expect(refreshed.status).toBe(200);
  // Named keys and S3 keys belong to the project, wherever its database is.
  expect((await project.client(key, key).get('/rest/v1/typed')).status).toBe(200);
  const target = `/p/${project.slug}/storage/v1/s3/box/${file.data.filename}`;
  const { host } = new URL(plinth.baseUrl);
  const { headers } = signS3(s3, { method: 'GET', host, target, payload: sha256('') });
  expect((await plinth.http.with(headers).unchecked().get(target)).text).toBe('the bytes');
  const download = await project.service.get(`${project.storage}/files/${file.data.id}/download`);
  expect([download.status, download.text]).toEqual([200, 'the bytes']);
  const now = await accessOf(plinth, project.id);
  expect(now).toMatchObject({
    port: Number(new URL(second.url).port),
    owner_password: access.owner_password,
  });
  expect(await rolesOn(second, project)).toEqual(roles);
}, 120_000);

it('loses no acknowledged write of clients and of the owner, and refuses writes with 503 only', async () => {
  const project = await newProject();
  await project.sql(`create table notes (id bigint primary key, via text);
    create policy everybody on notes to anon using (true) with check (true)`);
  const load = new MoveLoad([project.anon], await accessOf(plinth, project.id), PAUSE_MS);
  await load.start();
  await load.written(20);
  const outcomes = [await move(project, { server: 'db2' })];
  await load.restartOwner(await accessOf(plinth, project.id));
  await load.written(20);
  outcomes.push(await move(project, { server: 'platform' }));
  await load.written(20);
  await load.stop();
  expect(outcomes).toMatchObject([{ status: 'done' }, { status: 'done' }]);
  expect(load.faults).toEqual([]);
  const rows = (await project.sql('select id::int from notes')) as { id: number }[];
  const found = new Set(rows.map(({ id }) => id));
  expect(load.acknowledged.filter((id) => !found.has(id))).toEqual([]);
}, 120_000);

it('refuses an impossible move, and the move of a large project unless the window is accepted', async () => {
  const project = await newProject();
  expect((await begin(project, { server: 'nowhere' })).status).toBe(404);
  expect((await begin(project, { server: 'platform' })).body.error.code).toBe('move_refused');
  expect((await plinth.admin.get(`/admin/v1/projects/${project.id}/move`)).status).toBe(404);
  await project.sql(LARGE);
  expect(await begin(project, { server: 'db2' })).toMatchObject({
    status: 409,
    body: {
      error: { code: 'move_refused', message: expect.stringMatching(/public\.large.*read_only_window/) },
    },
  });
  await project.sql(`alter table large add primary key (n); create table forced (n int primary key);
    alter table forced force row level security; create table firing (n int primary key);
    create trigger firing before update on firing for each row execute function suppress_redundant_updates_trigger();
    alter table firing enable always trigger firing; select lo_from_bytea(0, '')`);
  const { body: obstacles } = await begin(project, { server: 'db2' });
  for (const part of ['forced on public.forced', 'ALWAYS or REPLICA on public.firing', 'large objects'])
    expect(obstacles.error.message).toContain(part);
  expect(obstacles.error.message).not.toContain('public.large');
  expect(await tracesOn(second, project)).toEqual([]);
  const moved = await move(project, { server: 'db2', read_only_window: true, keep: true });
  expect(moved).toMatchObject({ status: 'done', old_database_kept: true });
  expect(await project.sql('select count(*)::int as n from large')).toEqual([{ n: 120_000 }]);
  expect(await tracesOn(first, project)).toContain(`plinth_${project.id}`);
  // The kept database would be overwritten.
  expect((await begin(project, { server: 'platform' })).status).toBe(409);
  const other = await TestProject.create(plinth, { server: 'db2' });
  await other.sql(LARGE);
  expect((await begin(other, { server: 'platform' })).body.error.message).toContain(
    'wal_level on the source is "replica"',
  );
}, 120_000);

it('does not take over a database or role of others on the target', async () => {
  const project = await newProject();
  const { owner_role, database } = await accessOf(plinth, project.id);
  const role = `plinth_${project.id}_report`;
  const there = <T>(work: (client: Client) => Promise<T>): Promise<T> =>
    withConnection({ connectionString: second.url }, work);
  const refused = async (): Promise<string> => {
    const { status, body } = await begin(project, { server: 'db2' });
    expect([status, body.error.code]).toEqual([409, 'move_refused']);
    return body.error.message as string;
  };
  await asOwner(await accessOf(plinth, project.id), (client) => client.query(`create role ${role}`));
  await there((client) => client.query(`create role ${role}; create role taker login createrole`));
  expect(await refused()).toContain(role);
  await there(async (client) => {
    await client.query(`alter role ${role} rename to ${role}_kept`);
    await client.query(`create database ${database}`);
  });
  expect(await refused()).toContain(database);
  expect((await tracesOn(second, project)).sort()).toEqual([database, `${role}_kept`]);
  await there(async (client) => {
    await client.query(`drop database ${database}`);
    await client.query(
      `set role taker; create role ${owner_role} login; grant ${owner_role} to taker with set true`,
    );
  });
  expect(await move(project, { server: 'db2' })).toMatchObject({ status: 'done' });
  const { rows } = await there((client) =>
    client.query("select pg_has_role('taker', $1, 'MEMBER') as member", [owner_role]),
  );
  expect(rows).toEqual([{ member: false }]);
  expect((await plinth.admin.delete(`/admin/v1/projects/${project.id}`)).status).toBe(200);
  expect(await tracesOn(second, project)).toEqual([`${role}_kept`]);
}, 120_000);

it('gives up a move when the schema changes, and the project remains where it was', async () => {
  const project = await newProject();
  await project.sql(`create table notes (id bigint primary key);
    create policy everybody on notes to anon using (true) with check (true)`);
  const access = await accessOf(plinth, project.id);
  await asOwner(access, async (writer) => {
    writer.on('error', () => undefined);
    await writer.query('begin; insert into notes values (1)');
    await begin(project, { server: 'db2' });
    // Writes are refused while the move waits for the writer, after it has read the schema.
    await eventually(
      async () => expect((await project.anon.post('/rest/v1/notes', { id: 2 })).status).toBe(503),
      60_000,
    );
    await asOwner(access, (other) => other.query('create table made_meanwhile ()'));
    await writer.query('commit').catch(() => undefined);
  });
  expect(await ended(project)).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('schema'),
  });
  expect(await tracesOn(second, project)).toEqual([]);
  await eventually(async () =>
    expect((await project.anon.post('/rest/v1/notes', { id: 3 })).status).toBe(201),
  );
  expect((await plinth.admin.get(`/admin/v1/projects/${project.id}`)).body.server).toBe('platform');
}, 120_000);

it('keeps the newer database when the platform database was restored to a moment during the move', async () => {
  const project = await newProject();
  await project.sql('create table notes (id int primary key)');
  expect(await move(project, { server: 'db2', keep: true })).toMatchObject({ status: 'done' });
  expect((await project.service.post('/rest/v1/notes', { id: 1 })).status).toBe(201);
  const platform = new URL(first.url);
  platform.pathname = `/${plinth.platformDatabase}`;
  await withConnection({ connectionString: platform.href }, async (client) => {
    await client.query(
      `update project_moves set status = 'running', finished_at = null where project_id = $1`,
      [project.id],
    );
    await client.query(`update projects set server = 'platform', server_url = null where id = $1`, [
      project.id,
    ]);
  });
  await plinth.app.get(MoveRecovery).recover(project.id);
  expect(await ended(project)).toMatchObject({ status: 'failed', error: expect.stringContaining('kept') });
  const kept = await withConnection(
    { connectionString: second.url.replace(/\/[^/]*$/, `/plinth_${project.id}`) },
    (client) => client.query('select id from notes'),
  );
  expect(kept.rows).toEqual([{ id: 1 }]);
  // The project is served from the server that the restored platform database has.
  await eventually(async () => expect((await project.service.get('/rest/v1/notes')).body).toEqual([]));
});

it('gives up following a large project when its schema changes, and leaves nothing on either server', async () => {
  const project = await newProject();
  await project.sql(`${LARGE}; alter table large add primary key (n)`);
  const access = await accessOf(plinth, project.id);
  await begin(project, { server: 'db2' });
  const step = async (): Promise<string> =>
    (await plinth.admin.get(`/admin/v1/projects/${project.id}/move`)).body.step;
  await until(async () => !(await step()).startsWith('preparing'), MOVED_MS);
  await asOwner(access, async (client) => {
    const { rows } = await client.query<{ name: string }>('select pubname as name from pg_publication');
    expect(rows).toHaveLength(1);
    expect(await sqlstateOf(client.query(`drop publication "${rows[0]?.name}"`))).toBe('42501');
    await client.query('create table made_meanwhile ()');
  });
  expect(await ended(project)).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('schema'),
  });
  expect(await tracesOn(second, project)).toEqual([]);
  expect(await project.sql('select pubname from pg_publication')).toEqual([]);
  const slots = await withConnection({ connectionString: first.url }, (client) =>
    client.query(`select slot_name from pg_replication_slots where slot_name ~ '^plinth_move'`),
  );
  expect(slots.rows).toEqual([]);
}, 120_000);

it('follows the changes of a large project, refuses writes only briefly, and copies every change', async () => {
  const project = await newProject();
  await project.sql(`create table notes (id bigint primary key, via text);
    create policy everybody on notes to anon using (true) with check (true)`);
  const access = await accessOf(plinth, project.id);
  await asOwner(access, (client) => client.query(CHANGING_TABLES));
  const changes = new EveryChange(access, 4 * PAUSE_MS);
  changes.start();
  const load = new MoveLoad([project.anon], access, PAUSE_MS);
  await load.start();
  let moved: HttpAnswer['body'];
  let during = 0;
  try {
    await until(() => changes.rounds > 10, 20_000);
    const before = changes.rounds;
    moved = await move(project, { server: 'db2', keep: true });
    during = changes.rounds - before;
    await load.written(20);
  } finally {
    await changes.stop();
    await load.stop();
  }
  expect(moved).toMatchObject({ status: 'done', error: null });
  expect([changes.faults, load.faults]).toEqual([[], []]);
  // A round has changes of every kind.
  expect(during).toBeGreaterThan(1);
  if (process.env.PLINTH_SHOW_TIMES)
    process.stdout.write(`${JSON.stringify({ ...moved, rounds: during, ...load.longest })}\n`);
  await withConnection({ connectionString: first.url }, (client) =>
    client.query(`alter database "${access.database}" with allow_connections true`),
  );
  // The copied materialized view equals its refreshed contents.
  await asOwner(access, (client) => client.query('refresh materialized view seen'));
  const of = async ({ url }: EmbeddedPostgres): Promise<Record<string, unknown>> => {
    // This table was written to after the switch.
    const { notes: _, ...content } = await contentOf(access.database, url);
    return { ...content, schema: await schemaOf(access.database, url) };
  };
  expect(await of(second)).toEqual(await of(first));
  const rows = (await project.sql('select id::int from notes')) as { id: number }[];
  const found = new Set(rows.map(({ id }) => id));
  expect(load.acknowledged.filter((id) => !found.has(id))).toEqual([]);
  // Foreign keys and triggers are active again.
  await expect(
    asOwner(await accessOf(plinth, project.id), (client) =>
      client.query('insert into of_emptied values (-1, -1)'),
    ),
  ).rejects.toMatchObject({ code: '23503' });
}, 180_000);
