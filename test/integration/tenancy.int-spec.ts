/** A project's SQL cannot affect another project or the platform (DECISIONS.md 2). */
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { withConnection } from '../../src/database/pools/one-off-connection';
import {
  accessOf,
  asOwner,
  asSuperuser,
  DatabaseAccess,
  serverVersion,
  sqlstateOf,
} from '../support/owner-connection';
import { eventually } from '../support/eventually';
import { TestPlinth } from '../support/plinth';
import { TestProject } from '../support/test-project';

const PERMISSION_DENIED = '42501';

let plinth: TestPlinth;
let [mine, theirs]: TestProject[] = [];
let [access, foreign]: DatabaseAccess[] = [];
let platformDatabase: string;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  [mine, theirs] = [await plinth.createProject(), await plinth.createProject()];
  [access, foreign] = [await accessOf(plinth, mine.id), await accessOf(plinth, theirs.id)];
  platformDatabase = plinth.platformDatabase;
});
afterAll(() => plinth.stop());

const owner = <T>(work: (client: Client) => Promise<T>, database?: string): Promise<T> =>
  asOwner(access as DatabaseAccess, work, database === undefined ? {} : { database });

/** The login role's password cannot be read, so the test sets another one. */
async function asLogin<T>(
  of: DatabaseAccess,
  database: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const password = randomUUID();
  await asSuperuser('postgres', (client) =>
    client.query(`alter role ${of.login_role} password '${password}'`),
  );
  return withConnection({ host: of.host, port: of.port, user: of.login_role, password, database }, work);
}

describe('a project connects', () => {
  it('to its own database', async () => {
    expect(await sqlstateOf(owner((client) => client.query('select 1')))).toBeNull();
  });

  it.each([
    ["another project's", () => foreign?.database ?? ''],
    ["the platform's", () => platformDatabase],
    ['the maintenance database', () => 'postgres'],
    ["the server's template", () => 'template1'],
  ])('as its owner, but not to %s database', async (_name, database) => {
    expect(await sqlstateOf(owner((client) => client.query('select 1'), database()))).toBe(PERMISSION_DENIED);
  });

  it('as its login role, but to no other database either', async () => {
    const own = await plinth.createProject();
    const ownAccess = await accessOf(plinth, own.id);
    const query = (client: Client): Promise<unknown> => client.query('select 1');
    expect(await sqlstateOf(asLogin(ownAccess, ownAccess.database, query))).toBeNull();
    for (const database of [foreign?.database ?? '', platformDatabase, 'postgres', 'template1']) {
      expect(await sqlstateOf(asLogin(ownAccess, database, query))).toBe(PERMISSION_DENIED);
    }
  });

  it('but not to the template of new projects', async () => {
    const templates = await asSuperuser('postgres', (client) =>
      client.query<{ name: string }>(
        `select datname as name from pg_database where datname like 'plinth_template%'`,
      ),
    );
    expect(templates.rows.length).toBeGreaterThan(0);
    for (const { name } of templates.rows) {
      expect(await sqlstateOf(owner((client) => client.query('select 1'), name))).not.toBeNull();
    }
  });
});

describe("an owner's SQL", () => {
  /** Statements that must fail on every connection. */
  const FORBIDDEN: Record<string, () => string> = {
    'read files of the server': () => "select pg_read_file('/etc/passwd')",
    'list directories of the server': () => "select pg_ls_dir('/')",
    'copy from a file': () => "create table f (t text); copy f from '/etc/passwd'",
    'copy to a file': () => "copy (select 1) to '/tmp/plinth-test-owned'",
    'run a program': () => "copy (select 1) to program 'id'",
    'load a file as a large object': () => "select lo_import('/etc/passwd')",
    'use an untrusted language': () => "create function f() returns void language c as 'libc.so.6', 'system'",
    'load a library': () => "load '/tmp/library.so'",
    'create an event trigger': () =>
      'create function e() returns event_trigger language plpgsql as $$ begin end $$; create event trigger e on ddl_command_start execute function e()',
    'drop the event trigger that closes tables': () => 'drop event trigger plinth_close_new_relation',
    'disable the event trigger that closes tables': () =>
      'alter event trigger plinth_close_new_relation disable',
    'replace the function that closes tables': () =>
      'create or replace function plinth.close_new_relation() returns event_trigger language plpgsql as $$ begin end $$',
    'drop the schema of those functions': () => 'drop schema plinth cascade',
    'act as a replica': () => 'set session_replication_role = replica',
    'change a setting of the server': () => "alter system set log_statement = 'all'",
    'see passwords': () => 'select rolpassword from pg_authid',
    'see user mappings': () => 'select * from pg_user_mapping',
    'create a database': () => 'create database grab',
    'become a superuser': () => 'alter role current_user superuser',
    'become its own login role': () => `set role ${access?.login_role}`,
    'create a superuser': () => 'create role grab superuser',
    'create a role past row-level security': () => 'create role grab bypassrls',
    'create a role that replicates': () => 'create role grab replication',
    'switch to the superuser': () => 'set role postgres',
    'log in as the superuser': () => 'set session authorization postgres',
    'switch to another login role': () => `set role ${foreign?.login_role}`,
    'switch to another owner': () => `set role ${foreign?.owner_role}`,
    "change another owner's password": () => `alter role ${foreign?.owner_role} password 'grabbed'`,
    "change another login role's password": () => `alter role ${foreign?.login_role} password 'grabbed'`,
    'make itself a member of another owner': () => `grant ${foreign?.owner_role} to current_user`,
    'make itself a member of pg_read_server_files': () => 'grant pg_read_server_files to current_user',
    'let another role act as service_role': () => `grant service_role to ${foreign?.login_role}`,
    'let anon log in': () => "alter role anon login password 'grabbed'",
    'give anon a setting': () => "alter role anon set search_path = 'grabbed'",
    'drop a shared role': () => 'drop role authenticated',
    'rename a shared role': () => 'alter role service_role rename to grabbed',
    "end another project's sessions": () =>
      `do $$ declare ended int; begin
         select count(pg_terminate_backend(pid)) into ended from pg_stat_activity where datname <> current_database() and datname is not null;
         if ended = 0 then raise insufficient_privilege; end if; end $$`,
    "alter another project's database": () => `alter database ${foreign?.database} set statement_timeout = 1`,
    "drop another project's database": () => `drop database ${foreign?.database}`,
    "copy another project's database": () => `create database grab template ${foreign?.database}`,
  };

  it.each(Object.keys(FORBIDDEN))('cannot %s', async (name) => {
    const query = FORBIDDEN[name]?.() ?? '';
    const answer = await plinth.admin.post(`/admin/v1/projects/${mine?.id}/sql`, { query });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('"error"')]);
    expect(await sqlstateOf(owner((client) => client.query(query)))).not.toBeNull();
  });

  it('cannot RESET ROLE to a stronger role, because it logs in as the owner', async () => {
    for (const trick of [
      'reset role',
      'set role none',
      'reset session authorization',
      'set session authorization default',
      'discard all',
      "select set_config('role', 'none', false)",
    ]) {
      const answer = await plinth.admin.post(`/admin/v1/projects/${mine?.id}/sql`, { query: trick });
      const user = await mine?.sql('select current_user, session_user');
      expect([trick, answer.status < 500, user[0].current_user]).toEqual([trick, true, access?.owner_role]);
    }
    const [row] = await (mine as TestProject).sql('reset role; select current_user, session_user');
    expect(row).toEqual({ current_user: access?.owner_role, session_user: access?.owner_role });
  });

  it('does not affect other projects by the permitted changes to shared roles', async () => {
    await (theirs as TestProject)
      .sql(`create table shared_roles (id int); insert into shared_roles values (1);
      create policy p on shared_roles to anon using (true)`);
    const hostile = await plinth.createProject();
    for (const query of [
      'drop owned by anon, authenticated, service_role cascade',
      'reassign owned by anon, authenticated, service_role to current_user',
      'revoke anon, authenticated, service_role from current_user',
      `revoke service_role from ${foreign?.login_role}`,
      'alter default privileges for role anon grant all on tables to public',
      'comment on role anon is null',
    ]) {
      await plinth.admin.post(`/admin/v1/projects/${hostile.id}/sql`, { query });
    }
    const rows = await asLogin(foreign as DatabaseAccess, foreign?.database ?? '', async (client) => {
      await client.query('set role anon');
      return (await client.query('select * from shared_roles')).rows;
    });
    expect(rows).toEqual([{ id: 1 }]);
  });

  it('may change its own password, which Plinth then resets', async () => {
    const project = await plinth.createProject();
    await project.sql(`alter role current_user password 'my own'`);
    expect(await project.sql('select 1 as one')).toEqual([{ one: 1 }]);
    const again = await accessOf(plinth, project.id);
    expect(await asOwner(again, async (client) => (await client.query('select 1 as one')).rows)).toEqual([
      { one: 1 },
    ]);
  });

  it.each([
    [
      'changes the password of the login role',
      `set local role none; execute format('alter role %I password %L', session_user, 'taken')`,
    ],
    [
      'shuts the login role out',
      `execute format('revoke connect on database %I from %I', current_database(), session_user)`,
    ],
  ])('that %s blocks requests only briefly', async (what, body) => {
    const project = await plinth.createProject();
    const rights = what.startsWith('shuts') ? 'security definer' : '';
    await project.sql(
      `create function harm() returns void language plpgsql ${rights} as $$ begin ${body}; end $$`,
    );
    await eventually(async () =>
      expect((await project.service.post('/rest/v1/rpc/harm', {})).status).toBe(204),
    );
    const { database } = await accessOf(plinth, project.id);
    await asSuperuser('postgres', (client) =>
      client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database]),
    );
    await project.sql('drop function harm; create table served (id int)');
    const seen = new Set<number>();
    await eventually(async () => {
      const { status } = await project.service.get('/rest/v1/served');
      seen.add(status);
      expect(status).toBe(200);
    });
    expect([...seen].every((status) => [200, 404, 503].includes(status))).toBe(true);
  });

  it('may create roles from PostgreSQL 16 on, which are deleted with the project', async () => {
    if ((await serverVersion()) < 16) {
      const answer = await plinth.admin.post(`/admin/v1/projects/${mine?.id}/sql`, {
        query: 'create role own',
      });
      expect(answer.body.error.code).toBe(PERMISSION_DENIED);
      return;
    }
    const project = await plinth.createProject();
    const { login_role } = await accessOf(plinth, project.id);
    const suffix = project.id.slice(0, 8);
    await project.sql(`create role maker_${suffix} createrole; grant maker_${suffix} to current_user;
      set role maker_${suffix}; create role made_${suffix}; reset role; grant maker_${suffix} to ${login_role}`);
    expect((await plinth.admin.delete(`/admin/v1/projects/${project.id}`)).status).toBe(200);
    const { rows } = await asSuperuser('postgres', (client) =>
      client.query(`select rolname from pg_roles where rolname like $1 or rolname like $2`, [
        `%_${suffix}`,
        `plinth_${project.id}%`,
      ]),
    );
    expect(rows).toEqual([]);
  });

  it('cannot keep another project from being deleted', async () => {
    const victim = await plinth.createProject();
    const { owner_role, login_role } = await accessOf(plinth, victim.id);
    await (mine as TestProject).sql(
      `create schema trap; grant usage on schema trap to ${owner_role}, ${login_role}`,
    );
    expect((await plinth.admin.delete(`/admin/v1/projects/${victim.id}`)).status).toBe(200);
    const { rows } = await asSuperuser('postgres', (client) =>
      client.query(
        `select rolcanlogin, rolcreaterole, rolpassword is null as locked from pg_authid where rolname = any ($1)`,
        [[owner_role, login_role]],
      ),
    );
    expect(rows).toEqual([0, 1].map(() => ({ rolcanlogin: false, rolcreaterole: false, locked: true })));
  });
});
