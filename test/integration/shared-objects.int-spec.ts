/**
 * The objects of PostgreSQL that all databases of a server share (docs/internals/shared-objects.md): the changes that a
 * project's owner can make, none of which affects another project.
 */
import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { withConnection } from '../../src/database/pools/one-off-connection';
import { backUp, restore } from '../support/backups';
import {
  accessOf,
  asOwner,
  asSuperuser,
  type DatabaseAccess,
  serverVersion,
  sqlstateOf,
} from '../support/owner-connection';
import { TestPlinth } from '../support/plinth';
import type { TestProject } from '../support/test-project';

const NOT_PERMITTED = '42501';
const TAKEN = '42710';
const IN_USE = '55000';

let plinth: TestPlinth;
let [mine, theirs]: TestProject[] = [];
let [access, foreign]: DatabaseAccess[] = [];
const suffix = randomUUID().slice(0, 8);

beforeAll(async () => {
  plinth = await TestPlinth.start();
  [mine, theirs] = [await plinth.createProject(), await plinth.createProject()];
  [access, foreign] = [await accessOf(plinth, mine.id), await accessOf(plinth, theirs.id)];
});
afterAll(() => plinth.stop());

const owner = <T>(work: (client: Client) => Promise<T>, into: { database?: string } = {}): Promise<T> =>
  asOwner(access as DatabaseAccess, work, into);
const other = <T>(work: (client: Client) => Promise<T>): Promise<T> =>
  asOwner(foreign as DatabaseAccess, work);

describe('an owner', () => {
  const REFUSED: Record<string, () => string> = {
    'comment on a shared role': () => "comment on role anon is 'mine'",
    "comment on another project's roles": () => `comment on role ${foreign?.login_role} is 'mine'`,
    'comment on a database': () => `comment on database "${foreign?.database}" is 'mine'`,
    'store settings in another login role': () =>
      `alter role ${foreign?.login_role} in database "${access?.database}" set work_mem = '1MB'`,
    'store settings in all roles': () => "alter role all set work_mem = '1MB'",
    'store settings in another database': () => `alter database "${foreign?.database}" set work_mem = '1MB'`,
    'create a tablespace': () => "create tablespace mine location '/tmp'",
    'change a tablespace': () => 'alter tablespace pg_default set (seq_page_cost = 9)',
    'put tables into the global tablespace': () => 'create table t (id int) tablespace pg_global',
    'create a replication slot': () => "select pg_create_physical_replication_slot('mine')",
    'create a logical replication slot': () =>
      "select pg_create_logical_replication_slot('mine', 'test_decoding')",
    'drop a replication slot': () => "select pg_drop_replication_slot('mine')",
    'create a replication origin': () => "select pg_replication_origin_create('mine')",
    'move a replication origin': () => "select pg_replication_origin_advance('mine', '0/1')",
    'create a subscription': () =>
      "create subscription mine connection 'dbname=postgres' publication p with (connect = false)",
    'reset the statistics of the server': () => "select pg_stat_reset_shared('bgwriter')",
    'reset the statistics of a replication slot': () => "select pg_stat_reset_replication_slot('mine')",
    'reset the statistics of its database': () => 'select pg_stat_reset()',
    'grant a setting of the server': () => 'grant set on parameter log_statement to anon',
    'reload the configuration': () => 'select pg_reload_conf()',
    'switch the log': () => 'select pg_switch_wal()',
    'write to the log of changes': () => 'select pg_log_standby_snapshot()',
  };

  it.each(Object.keys(REFUSED))('cannot %s', async (name) => {
    const state = await sqlstateOf(owner((client) => client.query(REFUSED[name]?.() ?? '')));
    // The oldest servers do not know some of these functions or statements.
    const refusals = (await serverVersion()) >= 17 ? [NOT_PERMITTED] : [NOT_PERMITTED, '42883', '42601'];
    expect([name, refusals.includes(state ?? 'done')]).toEqual([name, true]);
  });

  it('that gives a shared role a password does not allow anybody to log in', async () => {
    await owner((client) => client.query(`set role anon; alter role anon password '${suffix}'`));
    const { host, port, database } = access as DatabaseAccess;
    const state = await sqlstateOf(
      withConnection({ host, port, user: 'anon', password: suffix, database }, async () => undefined),
    );
    expect(['28000', '28P01']).toContain(state);
    await asSuperuser('postgres', (client) => client.query('alter role anon password null'));
  });

  it('that creates a role takes its name, and no other owner can use the role', async () => {
    if ((await serverVersion()) < 16) return;
    const role = `editor_${suffix}`;
    await owner((client) => client.query(`create role ${role}`));
    for (const [statement, expected] of [
      [`create role ${role}`, TAKEN],
      [`set role ${role}`, NOT_PERMITTED],
      [`alter role ${role} set work_mem = '1MB'`, NOT_PERMITTED],
      [`grant ${role} to current_user`, NOT_PERMITTED],
      [`drop role ${role}`, NOT_PERMITTED],
      [`comment on role ${role} is 'mine'`, NOT_PERMITTED],
    ] as const)
      expect([statement, await sqlstateOf(other((client) => client.query(statement)))]).toEqual([
        statement,
        expected,
      ]);
    const token = (theirs as TestProject).token({ role });
    const http = (theirs as TestProject).client((theirs as TestProject).anonKey, token);
    expect((await http.get('/rest/v1/')).status).toBe(401);
  });

  it('that takes the role names of a deleted project cannot block its restore or connect to it', async () => {
    if ((await serverVersion()) < 16) return;
    const project = await plinth.createProject();
    await project.sql('create table notes as select 1 as id');
    const archive = await backUp(plinth, project.id);
    const { owner_role, login_role, database } = await accessOf(plinth, project.id);
    expect((await plinth.admin.delete(`/admin/v1/projects/${project.id}`)).status).toBe(200);
    // The grants keep the roles from being dropped.
    await owner((client) =>
      client.query(`create role ${owner_role} login createrole password '${suffix}'; create role ${login_role} login;
        grant ${owner_role} to ${login_role} with inherit true, set true; create schema taken_${suffix};
        grant usage on schema taken_${suffix} to ${owner_role}, ${login_role}`),
    );
    const restored = await restore(plinth, archive);
    expect([restored.status, restored.body.id]).toEqual([201, project.id]);
    const taken = { ...(access as DatabaseAccess), owner_role, owner_password: suffix, database };
    expect(await sqlstateOf(asOwner(taken, (client) => client.query('select')))).toBe('28P01');
    for (const role of [owner_role, login_role])
      expect(await sqlstateOf(owner((client) => client.query(`set role ${role}`)))).toBe(NOT_PERMITTED);
    expect(await sqlstateOf(owner((client) => client.query('select'), { database }))).toBe(NOT_PERMITTED);
    expect((await plinth.admin.delete(`/admin/v1/projects/${project.id}`)).status).toBe(200);
    const { rows } = await asSuperuser('postgres', (client) =>
      client.query(
        `select count(*)::int as kept from pg_auth_members where member = $1::regrole
           and pg_get_userbyid(roleid) like 'plinth\\_former\\_%'`,
        [access?.owner_role],
      ),
    );
    expect(rows).toEqual([{ kept: 2 }]);
  });

  it('that grants another owner a role with the admin option keeps the role when that project is deleted', async () => {
    if ((await serverVersion()) < 16) return;
    const role = `given_${suffix}`;
    const deleted = await plinth.createProject();
    const { owner_role } = await accessOf(plinth, deleted.id);
    await owner((client) =>
      client.query(`create role ${role}; grant ${role} to ${owner_role} with admin option`),
    );
    expect((await plinth.admin.delete(`/admin/v1/projects/${deleted.id}`)).status).toBe(200);
    const { rowCount } = await asSuperuser('postgres', (client) =>
      client.query('select from pg_roles where rolname = $1', [role]),
    );
    expect(rowCount).toBe(1);
  });

  it('shares no large object, advisory lock or channel with another database', async () => {
    const id = 700_000_000 + Math.floor(Math.random() * 1_000_000);
    await owner(async (client) => {
      await client.query(`select lo_create(${id})`);
      const { rows } = await client.query<{ locked: boolean }>(
        'select pg_try_advisory_lock(7046105) as locked',
      );
      expect(rows).toEqual([{ locked: true }]);
      await other(async (second) => {
        expect(await sqlstateOf(second.query(`select lo_get(${id})`))).toBe('42704');
        const again = await second.query<{ locked: boolean }>(
          'select pg_try_advisory_lock(7046105) as locked',
        );
        expect(again.rows).toEqual([{ locked: true }]);
        const heard: string[] = [];
        second.on('notification', ({ payload }) => heard.push(payload ?? ''));
        await second.query('listen plinth_ddl');
        await client.query(`notify plinth_ddl, 'foreign'`);
        await second.query(`notify plinth_ddl, 'own'`);
        await second.query('select 1');
        expect(heard).toEqual(['own']);
      });
    });
  });

  it('sees counters of another database, but no text of its statements', async () => {
    const marker = `marker_${suffix}`;
    const seen = await other(async (second) => {
      await second.query(`select '${marker}'`);
      return owner(async (client) => {
        const { rows } = await client.query<{ query: string }>(
          `select query from pg_stat_activity where datname = $1 and usename = $2`,
          [foreign?.database, foreign?.owner_role],
        );
        expect(rows.length).toBeGreaterThan(0);
        const { rowCount } = await client.query('select from pg_stat_database where datname = $1', [
          foreign?.database,
        ]);
        expect(rowCount).toBe(1);
        return rows.map(({ query }) => query);
      });
    });
    expect(seen.every((query) => query === '<insufficient privilege>')).toBe(true);
    const statements = await sqlstateOf(
      owner((client) => client.query('create extension pg_stat_statements')),
    );
    expect([NOT_PERMITTED, '58P01', '0A000']).toContain(statements);
  });

  it('cannot finish a prepared transaction of another project', async () => {
    const prepare = `begin; create table prepared_${suffix} (id int); prepare transaction '${suffix}'`;
    const state = await sqlstateOf(other((client) => client.query(prepare)));
    // The embedded server does not allow prepared transactions.
    if (state === IN_USE) return;
    expect(state).toBeNull();
    for (const end of ['commit', 'rollback'])
      expect(await sqlstateOf(owner((client) => client.query(`${end} prepared '${suffix}'`)))).toBe(
        NOT_PERMITTED,
      );
    await other((client) => client.query(`rollback prepared '${suffix}'`));
  });
});
