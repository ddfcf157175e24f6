/** The roles that all projects of a server share. Their privileges are granted in each project's own database. */
import { Client } from 'pg';
import {
  LOGIN_GROUP,
  LOGIN_GROUP_SINCE,
  REQUEST_ROLES,
  ServerCapabilities,
} from '../database/platform/server-capabilities';
import { quoteIdentifier } from '../database/sql/identifier';

/** Creates missing roles. The caller holds the server's lock. */
export async function ensureGlobalRoles(client: Client, capabilities: ServerCapabilities): Promise<void> {
  const known = new Map(capabilities.sharedRoles.map((role) => [role.name, role]));
  for (const name of REQUEST_ROLES) {
    const bypass = name === 'service_role' && capabilities.grantBypassRls;
    if (!known.has(name)) {
      await client.query(`create role ${name} nologin noinherit ${bypass ? 'bypassrls' : ''}`);
    } else if (bypass && !known.get(name)?.bypassRls) {
      await client.query(`alter role ${name} bypassrls`);
    }
  }
}

/**
 * More than the pools of several processes open for one project; an owner's function can change the role's
 * password.
 */
const LOGIN_CONNECTIONS = 100;

/** SQL that adds roles to LOGIN_GROUP without any privileges. Empty if Plinth cannot do that. */
export function loginGroupGrant({ admitRoles }: ServerCapabilities, ...roles: readonly string[]): string {
  const members = roles.map(quoteIdentifier).join(', ');
  return admitRoles ? `grant ${LOGIN_GROUP} to ${members} with inherit false, set false;` : '';
}

/** SQL that reserves connections for a login role when owners have taken all others, and limits their number. */
export function limitsOf({ superuser, version }: ServerCapabilities, loginRole: string): string {
  const login = quoteIdentifier(loginRole);
  const limit = `alter role ${login} connection limit ${LOGIN_CONNECTIONS};`;
  if (!superuser || version < LOGIN_GROUP_SINCE) return limit;
  return `${limit} grant pg_use_reserved_connections to ${login} with inherit true, set false;`;
}

/**
 * Creates the group, and adds the roles of projects that were created before the group existed. The caller holds the
 * server's lock.
 */
export async function ensureLoginGroup(client: Client, capabilities: ServerCapabilities): Promise<void> {
  if (!capabilities.admitRoles) return;
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [LOGIN_GROUP]);
  if (rowCount === 0) await client.query(`create role ${LOGIN_GROUP} nologin`);
  else if (capabilities.superuser) await revokeAdminOptions(client);
  const { rows } = await client.query<{ owner: string; login: string }>(
    `select o.rolname as owner, l.rolname as login
     from pg_database d join pg_roles o on o.oid = d.datdba and o.rolname = d.datname || '_owner'
       join pg_roles l on l.rolname = d.datname || '_login'
     where d.datname ~ '^plinth_[0-9a-z]+$' and pg_has_role(o.oid, 'USAGE')
       and not exists (select from pg_auth_members where roleid = $1::regrole and member = l.oid)`,
    [LOGIN_GROUP],
  );
  for (const { owner, login } of rows) {
    await client.query(loginGroupGrant(capabilities, owner, login) + limitsOf(capabilities, login));
  }
}

/**
 * An owner may have created a role of that name before Plinth did, and would then have the admin option on
 * it. Roles that got the admin option from a superuser keep it: they are admin roles of installations.
 */
async function revokeAdminOptions(client: Client): Promise<void> {
  const { rows } = await client.query<{ member: string; grantor: string }>(
    `select r.rolname as member, pg_get_userbyid(m.grantor) as grantor
     from pg_auth_members m join pg_roles r on r.oid = m.member
     where m.roleid = $1::regrole and m.admin_option and not r.rolsuper and not r.rolcreatedb`,
    [LOGIN_GROUP],
  );
  for (const { member, grantor } of rows) {
    const [from, by] = [quoteIdentifier(member), quoteIdentifier(grantor)];
    await client.query(`revoke ${LOGIN_GROUP} from ${from} granted by ${by} cascade`);
  }
  await client.query(`alter role ${LOGIN_GROUP} nologin`);
}

/** True when the service-role key needs no policy. */
export async function serviceBypassesRls(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ bypasses: boolean }>(
    `select rolbypassrls as bypasses from pg_roles where rolname = 'service_role'`,
  );
  return rows[0]?.bypasses ?? false;
}

/**
 * Makes the admin role a member with the role's privileges. Without SUPERUSER it needs them to transfer
 * ownership, end sessions or drop a database.
 */
export async function joinRole(
  client: Client,
  role: string,
  { version }: Pick<ServerCapabilities, 'version'>,
): Promise<void> {
  // From PostgreSQL 16 on, the creator of a role has the admin option on it, but not its privileges.
  const options = version >= 16 ? 'with inherit true, set true' : '';
  await client.query(`grant ${quoteIdentifier(role)} to current_user ${options}`);
}
