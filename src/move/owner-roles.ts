/** Roles that a project's owner made (PostgreSQL 16 and later): a dump of a database does not hold them. */
import type { Client } from 'pg';
import { REQUEST_ROLES } from '../database/platform/server-capabilities';
import { quoteIdentifier, quoteLiteral } from '../database/sql/identifier';
import { rolesOf } from '../provisioning/drop-database';
import { roleExists, rolesNeedNewerServer } from './move.errors';

interface Names {
  readonly databaseName: string;
  readonly ownerRole: string;
  readonly loginRole: string;
}

interface OwnerRole {
  readonly name: string;
  readonly login: boolean;
  readonly inherit: boolean;
  readonly createrole: boolean;
  readonly limit: number;
  readonly until: string | null;
  readonly comment: string | null;
  /** As stored, hashed; null without one, or without the right to read it. */
  readonly password: string | null;
}

interface Membership {
  readonly role: string;
  readonly member: string;
  readonly admin: boolean;
  readonly inherit: boolean;
  readonly set: boolean;
}

export interface OwnerRoles {
  readonly roles: readonly OwnerRole[];
  readonly memberships: readonly Membership[];
  /** Privileges on the database itself. */
  readonly grants: readonly { readonly role: string; readonly privilege: string }[];
  readonly databaseComment: string | null;
}

const GRANTABLE = ['CONNECT', 'CREATE', 'TEMPORARY'];

/** @param client of the admin role on the source, in another database */
export async function readOwnerRoles(client: Client, project: Names): Promise<OwnerRoles> {
  const known = [project.ownerRole, project.loginRole];
  const names = (await rolesOf(client, project)).filter((name) => !known.includes(name));
  const { rows: rights } = await client.query<{ may: boolean }>(
    `select has_table_privilege('pg_authid', 'select') as may`,
  );
  const [catalog, password] = rights[0]?.may ? ['pg_authid', 'rolpassword'] : ['pg_roles', 'null::text'];
  const { rows: roles } = await client.query<OwnerRole>(
    `select rolname as name, rolcanlogin as login, rolinherit as inherit, rolcreaterole as createrole,
       rolconnlimit as "limit", rolvaliduntil::text as until, ${password} as password,
       shobj_description(oid, 'pg_authid') as comment
     from ${catalog} where rolname = any ($1) order by array_position($1::text[], rolname::text) desc`,
    [names],
  );
  const { rows: databases } = await client.query<{ comment: string | null }>(
    `select shobj_description(oid, 'pg_database') as comment from pg_database where datname = $1`,
    [project.databaseName],
  );
  const { rows: grants } = await client.query<{ role: string; privilege: string }>(
    `select pg_get_userbyid(a.grantee) as role, a.privilege_type as privilege
     from pg_database d, aclexplode(d.datacl) a where d.datname = $1 and pg_get_userbyid(a.grantee) = any ($2)`,
    [project.databaseName, [...names, ...REQUEST_ROLES]],
  );
  const memberships = names.length === 0 ? [] : await readMemberships(client, names, known);
  return { roles, memberships, grants, databaseComment: databases[0]?.comment ?? null };
}

async function readMemberships(
  client: Client,
  names: readonly string[],
  known: readonly string[],
): Promise<Membership[]> {
  const { rows } = await client.query<Membership>(
    `select pg_get_userbyid(roleid) as role, pg_get_userbyid(member) as member, bool_or(admin_option) as admin,
       bool_or(inherit_option) as inherit, bool_or(set_option) as set
     from pg_auth_members
     where pg_get_userbyid(roleid) = any ($1) and pg_get_userbyid(member) = any ($2)
       or pg_get_userbyid(roleid) = any ($3) and pg_get_userbyid(member) = any ($1)
     group by 1, 2`,
    [names, [...names, ...known, ...REQUEST_ROLES], [...names, ...REQUEST_ROLES]],
  );
  return rows;
}

/** @throws AppError 409 when the target is too old, or has such a role */
export async function assertRolesFit(client: Client, { roles }: OwnerRoles): Promise<void> {
  if (roles.length === 0) return;
  const names = roles.map(({ name }) => name);
  const { rows } = await client.query<{ version: number }>(
    `select current_setting('server_version_num')::int as version`,
  );
  if ((rows[0]?.version ?? 0) < 160_000) throw rolesNeedNewerServer(names);
  const { rows: taken } = await client.query<{ name: string }>(
    'select rolname as name from pg_roles where rolname = any ($1)',
    [names],
  );
  if (taken[0]) throw roleExists(taken[0].name);
}

/**
 * Creates the roles as the owner would, so that the owner administers them.
 * @param client of the admin role on the target
 */
export async function createOwnerRoles(
  client: Client,
  { databaseName, ownerRole }: Names,
  { roles, memberships, grants, databaseComment }: OwnerRoles,
): Promise<void> {
  const statements = roles.map((role) => createRole(role));
  for (const { role, member, admin, inherit, set } of memberships) {
    // The creator of a role has the admin option on it, and cannot give it to itself.
    const isOfCreator = member === ownerRole;
    if (isOfCreator && !inherit && !set) continue;
    const options = [...(isOfCreator ? [] : [`admin ${admin}`]), `inherit ${inherit}`, `set ${set}`];
    statements.push(
      `grant ${quoteIdentifier(role)} to ${quoteIdentifier(member)} with ${options.join(', ')}`,
    );
  }
  const database = quoteIdentifier(databaseName);
  for (const { role, privilege } of grants)
    if (GRANTABLE.includes(privilege))
      statements.push(`grant ${privilege} on database ${database} to ${quoteIdentifier(role)}`);
  if (databaseComment !== null)
    statements.push(`comment on database ${database} is ${quoteLiteral(databaseComment)}`);
  if (statements.length === 0) return;
  await client.query(`begin; set local role ${quoteIdentifier(ownerRole)}; ${statements.join('; ')}; commit`);
  for (const { name, password } of roles)
    if (password !== null)
      await client.query(`alter role ${quoteIdentifier(name)} password ${quoteLiteral(password)}`);
}

function createRole({ name, login, inherit, createrole, limit, until, comment }: OwnerRole): string {
  const role = quoteIdentifier(name);
  const options = [
    login ? 'login' : 'nologin',
    inherit ? 'inherit' : 'noinherit',
    createrole ? 'createrole' : 'nocreaterole',
    `connection limit ${Number(limit)}`,
    ...(until === null ? [] : [`valid until ${quoteLiteral(until)}`]),
  ];
  const create = `create role ${role} ${options.join(' ')}`;
  return comment === null ? create : `${create}; comment on role ${role} is ${quoteLiteral(comment)}`;
}
