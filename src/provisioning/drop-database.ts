/** Steps of dropping a project's database: obstacles to DROP DATABASE and DROP ROLE are removed first. */
import { Client } from 'pg';
import { codeOf } from '../common/errors/error-facts';
import { REQUEST_ROLES } from '../database/platform/server-capabilities';
import { quoteIdentifier, quoteLiteral } from '../database/sql/identifier';
import { INSUFFICIENT_PRIVILEGE } from '../database/sql/sqlstate';
import { DatabaseServer } from './database-server';
import { BOOTSTRAP_SUPERUSER } from './shared-roles';

/**
 * Ends the sessions of a role; without SUPERUSER, only the sessions that Plinth's role may end.
 * @param role null: of all roles
 */
export async function endSessions(
  client: Client,
  database: string,
  role: string | null = null,
): Promise<void> {
  await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = $1 and pg_has_role(usesysid, 'USAGE') and ($2::name is null or usename = $2)`,
    [database, role],
  );
}

/**
 * Prepared transactions outlive their sessions and block DROP DATABASE. They can be rolled back only from
 * within their own database. ROLLBACK PREPARED runs no code of the owner, so the admin role may connect to
 * it.
 */
export async function rollBackPrepared(
  server: DatabaseServer,
  client: Client,
  database: string,
): Promise<void> {
  const { rows } = await client.query<{ gid: string }>(
    'select gid from pg_prepared_xacts where database = $1',
    [database],
  );
  if (rows.length === 0) return;
  await client.query(`alter database ${quoteIdentifier(database)} allow_connections true`);
  await server.asAdmin(database, async (inDatabase) => {
    for (const { gid } of rows) await inDatabase.query(`rollback prepared ${quoteLiteral(gid)}`);
  });
}

/** Milliseconds for a stream of changes to end with its session. */
const SLOT_MS = 5_000;

/** Slots of the feed of changes block DROP DATABASE. */
async function dropSlots(client: Client, database: string): Promise<void> {
  const end = Date.now() + SLOT_MS;
  for (;;) {
    const { rows } = await client.query<{ pid: number | null }>(
      "select active_pid as pid from pg_replication_slots where database = $1 and slot_name ~ '^plinth_feed_'",
      [database],
    );
    if (rows.length === 0 || Date.now() > end) return;
    await client.query(
      `select pg_terminate_backend(active_pid) from pg_replication_slots
       where database = $1 and slot_name ~ '^plinth_feed_' and active_pid is not null`,
      [database],
    );
    await client.query(
      `select pg_drop_replication_slot(slot_name) from pg_replication_slots
       where database = $1 and slot_name ~ '^plinth_feed_' and active_pid is null and not temporary`,
      [database],
    );
    await client.query('select pg_sleep(0.02)');
  }
}

/** datconnlimit after an interrupted DROP DATABASE: such a database can only be dropped. */
const INVALID = -2;

/** An owner may mark the database as a template, which DROP DATABASE refuses. */
export async function openForDropping(client: Client, database: string): Promise<void> {
  const { rowCount } = await client.query(
    `select from pg_database where datname = $1 and datconnlimit <> ${INVALID}`,
    [database],
  );
  if (rowCount === 0) return;
  await client.query(
    `alter database ${quoteIdentifier(database)} with allow_connections false is_template false`,
  );
}

/**
 * Drops the database and ends its sessions. With an autovacuum worker among them, which runs as a superuser,
 * FORCE fails for any other role. Without FORCE, PostgreSQL stops the worker itself and waits a few seconds for
 * it.
 */
export async function dropDatabase(client: Client, name: string): Promise<void> {
  await dropSlots(client, name);
  try {
    await client.query(`drop database if exists ${quoteIdentifier(name)} with (force)`);
  } catch (error) {
    if (codeOf(error) !== INSUFFICIENT_PRIVILEGE) throw error;
    await endSessions(client, name);
    await client.query(`drop database if exists ${quoteIdentifier(name)}`);
  }
}

/**
 * The project's two roles, and before them the roles that the owner created (PostgreSQL 16 and later). Roles that another owner
 * granted with the admin option are left out: only the grant to the creator of a role comes from the bootstrap superuser.
 */
export async function rolesOf(
  client: Client,
  { ownerRole, loginRole }: { readonly ownerRole: string; readonly loginRole: string },
): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `with recursive made (oid, depth) as (
       select oid, 0 from pg_roles where rolname = $1
       union
       select m.roleid, depth + 1 from made join pg_auth_members m on m.member = made.oid and m.admin_option
         and m.grantor = ${BOOTSTRAP_SUPERUSER}
     )
     select r.rolname as name from made join pg_roles r using (oid)
     where not r.rolsuper and r.rolname <> all ($2)
     group by r.rolname order by max(depth) desc, 1`,
    [ownerRole, [...REQUEST_ROLES, loginRole]],
  );
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [loginRole]);
  return [...rows.map(({ name }) => name), ...(rowCount === 0 ? [] : [loginRole])];
}
