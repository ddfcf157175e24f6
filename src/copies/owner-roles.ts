/**
 * Roles that a project's owner created (PostgreSQL 16 and later), which are not in the dump of a database. Those of an archive are a
 * stranger's input, so the owner creates them, and PostgreSQL decides what the owner may do.
 */
import type { Client } from 'pg';
import { REQUEST_ROLES } from '../database/platform/server-capabilities';
import { quoteIdentifier, quoteLiteral } from '../database/sql/identifier';
import { rolesOf } from '../provisioning/drop-database';
import { rolesMissing, rolesNotCreatable } from './copies.errors';

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
  /** The stored hash; null without a password, or without the right to read it. */
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
  /** Comment on the database. */
  readonly comment: string | null;
}

/** The roles in an archive. */
export interface ArchivedRoles extends OwnerRoles {
  /** All roles that privileges and policies of the database name. */
  readonly named: readonly string[];
}

const GRANTABLE = ['CONNECT', 'CREATE', 'TEMPORARY'];

/** @param client connected as the admin role on the source, in another database */
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
  return { roles, memberships, grants, comment: databases[0]?.comment ?? null };
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

/**
 * The roles and rights that the owner of a restored project can create on this server.
 * @param client connected as the admin role
 * @param renamed new names of the project's roles by their old ones
 * @returns skipped: a line about each role and membership that is left out
 * @throws AppError 400 when the server lacks roles that privileges name, or is too old for those of the owner
 */
export async function rolesToRestore(
  client: Client,
  archived: ArchivedRoles,
  { ownerRole, loginRole }: Names,
  renamed: ReadonlyMap<string, string>,
): Promise<{ roles: OwnerRoles; skipped: string[] }> {
  const archivedNames = archived.roles.map(({ name }) => name);
  const present = await existingRoles(client, [...archivedNames, ...archived.named]);
  const roles = archived.roles.filter(({ name }) => !present.has(name));
  const created = new Set(roles.map(({ name }) => name));
  const known = new Set([...created, ...REQUEST_ROLES, ...renamed.keys(), ownerRole, loginRole]);
  const missing = archived.named.filter((name) => !known.has(name) && !present.has(name));
  if (missing.length > 0) throw rolesMissing(missing);
  if (roles.length > 0 && !(await ownersCreateRoles(client))) throw rolesNotCreatable([...created]);
  const memberships = archived.memberships.map(({ role, member, ...rest }) => ({
    ...{ role, member: renamed.get(member) ?? member },
    ...rest,
  }));
  const isOwn = ({ role, member }: Membership): boolean =>
    created.has(role) && (created.has(member) || [ownerRole, loginRole].includes(member));
  const skipped = [
    ...archivedNames
      .filter((name) => present.has(name))
      .map((name) => `the role ${name} exists on this server already, and keeps its attributes`),
    ...memberships
      .filter((one) => !isOwn(one))
      .map(({ role, member }) => `an administrator of the server has to grant ${role} to ${member}`),
  ];
  const grants = archived.grants.filter(({ role }) => created.has(role));
  return {
    roles: { roles, memberships: memberships.filter(isOwn), grants, comment: archived.comment },
    skipped,
  };
}

/** Whether owners may create roles on this server. */
export async function ownersCreateRoles(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ may: boolean }>(
    `select current_setting('server_version_num')::int >= 160000 as may`,
  );
  return rows[0]?.may ?? false;
}

export async function existingRoles(client: Client, names: readonly string[]): Promise<Set<string>> {
  const { rows } = await client.query<{ name: string }>(
    'select rolname as name from pg_roles where rolname = any ($1)',
    [names],
  );
  return new Set(rows.map(({ name }) => name));
}

/**
 * Creates the roles without any rights, so that a dump can name them.
 * @param client connected as the admin role; the owner was not admitted yet (DatabaseProvisioner.admitOwner)
 */
export async function createOwnerRoles(client: Client, owner: string, { roles }: OwnerRoles): Promise<void> {
  if (roles.length === 0) return;
  const role = quoteIdentifier(owner);
  const statements = roles.map(({ name }) => `create role ${quoteIdentifier(name)}`);
  await client.query(`begin; alter role ${role} createrole; set local role ${role}; ${statements.join('; ')};
    reset role; alter role ${role} nocreaterole; commit`);
}

/**
 * Gives the roles their attributes, memberships and privileges.
 * @param client connected as the admin role; the owner was admitted
 */
export async function completeOwnerRoles(
  client: Client,
  { databaseName, ownerRole }: Names,
  { roles, memberships, grants, comment }: OwnerRoles,
): Promise<void> {
  const statements = roles.flatMap(attributesOf);
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
  if (comment !== null) statements.push(`comment on database ${database} is ${quoteLiteral(comment)}`);
  if (statements.length === 0) return;
  await client.query(`begin; set local role ${quoteIdentifier(ownerRole)}; ${statements.join('; ')}; commit`);
}

function attributesOf(attributes: OwnerRole): string[] {
  const { login, inherit, createrole, limit, until, password, comment } = attributes;
  const role = quoteIdentifier(attributes.name);
  const options = [
    login ? 'login' : 'nologin',
    inherit ? 'inherit' : 'noinherit',
    createrole ? 'createrole' : 'nocreaterole',
    `connection limit ${Number(limit)}`,
    ...(until === null ? [] : [`valid until ${quoteLiteral(until)}`]),
    ...(password === null ? [] : [`password ${quoteLiteral(password)}`]),
  ];
  const statement = `alter role ${role} ${options.join(' ')}`;
  return comment === null ? [statement] : [statement, `comment on role ${role} is ${quoteLiteral(comment)}`];
}
