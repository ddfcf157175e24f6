/** The rights of the installation's admin role on a PostgreSQL server, and the consequences of missing rights. */
import { Client } from 'pg';
import { quoteIdentifier } from '../sql/identifier';

/** Roles that all projects of a server share; requests run under them. */
export const REQUEST_ROLES = ['anon', 'authenticated', 'service_role'] as const;

interface SharedRole {
  readonly name: string;
  /** True for a role that may log in, is a superuser, or may create databases or roles: no request may run under it. */
  readonly powerful: boolean;
  readonly bypassRls: boolean;
  /** True if the admin role may grant it to a project's roles. */
  readonly grantable: boolean;
}

export interface ServerCapabilities {
  /** Major version. */
  readonly version: number;
  readonly role: string;
  /** Only a superuser creates event triggers. */
  readonly superuser: boolean;
  readonly createDatabase: boolean;
  readonly createRole: boolean;
  /** May create roles that bypass row-level security (service_role). */
  readonly grantBypassRls: boolean;
  /** May make roles members of LOGIN_GROUP. */
  readonly admitRoles: boolean;
  /** The shared roles that already exist. */
  readonly sharedRoles: readonly SharedRole[];
  /** Databases that Plinth did not create and that any role of the server may connect to. */
  readonly openDatabases: readonly string[];
}

const OLDEST_VERSION = 14;

/** The server cannot be reached, or its admin role lacks rights that Plinth needs. */
export class ServerUnusableError extends Error {
  constructor(
    readonly faults: readonly string[],
    options?: ErrorOptions,
  ) {
    const list = faults.length === 1 ? ` ${faults[0]}` : faults.map((fault) => `\n  - ${fault}`).join('');
    super(`The PostgreSQL server cannot be used:${list}`, options);
    this.name = 'ServerUnusableError';
  }
}

type Row = Omit<ServerCapabilities, 'sharedRoles' | 'openDatabases' | 'grantBypassRls' | 'admitRoles'> & {
  readonly administersLogins: boolean;
  readonly bypassRls: boolean;
};

/** Costs one round trip for each statement and changes nothing. */
export async function readCapabilities(client: Client): Promise<ServerCapabilities> {
  const { rows } = await client.query<Row>(
    `select current_setting('server_version_num')::int / 10000 as version, rolname as role, rolsuper as superuser,
      rolsuper or rolcreatedb as "createDatabase", rolsuper or rolcreaterole as "createRole",
      rolbypassrls as "bypassRls",
      exists (select from pg_auth_members m join pg_roles g on g.oid = m.roleid
        where g.rolname = $1 and m.admin_option and pg_has_role(m.member, 'MEMBER')) as "administersLogins"
    from pg_roles where rolname = current_user`,
    [LOGIN_GROUP],
  );
  const row = rows[0];
  if (!row) throw new Error('the database role could not be read');
  const { bypassRls, administersLogins, ...capabilities } = row;
  const sharedRoles = await readSharedRoles(client, capabilities);
  return {
    ...capabilities,
    // Before PostgreSQL 16 only a superuser could grant BYPASSRLS.
    grantBypassRls: row.superuser || (bypassRls && row.version >= 16),
    admitRoles: row.version >= LOGIN_GROUP_SINCE && (row.superuser || administersLogins),
    sharedRoles,
    openDatabases: await readOpenDatabases(client),
  };
}

async function readSharedRoles(
  client: Client,
  { superuser, version }: Pick<ServerCapabilities, 'superuser' | 'version'>,
): Promise<SharedRole[]> {
  // Before PostgreSQL 16 CREATEROLE could grant every role but superusers; since then it takes the admin option.
  const { rows } = await client.query<SharedRole>(
    `select rolname as name, rolsuper or rolcanlogin or rolcreatedb or rolcreaterole as powerful,
       rolbypassrls as "bypassRls",
       $2 or exists (select from pg_auth_members m
         where m.roleid = r.oid and m.admin_option and pg_has_role(m.member, 'MEMBER')) as grantable
     from pg_roles r where rolname = any ($1)`,
    [[...REQUEST_ROLES], superuser || version < 16],
  );
  return rows;
}

async function readOpenDatabases(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select datname as name from pg_database
     where datallowconn and has_database_privilege('public', oid, 'connect') order by 1`,
  );
  return rows.map(({ name }) => name);
}

/** Faults that make the server unusable, one line each; empty when there is none. */
export function missingCapabilities(capabilities: ServerCapabilities): string[] {
  const { version, role, createDatabase, createRole, sharedRoles } = capabilities;
  const admin = quoteIdentifier(role);
  const faults: string[] = [];
  if (version < OLDEST_VERSION) {
    faults.push(`PostgreSQL ${OLDEST_VERSION} or later is needed; this server is ${version}`);
  }
  if (!createDatabase) faults.push(`the role ${role} lacks CREATEDB: alter role ${admin} createdb`);
  if (!createRole) faults.push(`the role ${role} lacks CREATEROLE: alter role ${admin} createrole`);
  for (const shared of sharedRoles) {
    if (shared.powerful) {
      faults.push(
        `the role ${shared.name}, under which requests run, exists and may log in or has special rights: ` +
          `alter role ${shared.name} nologin nosuperuser nocreatedb nocreaterole`,
      );
    }
    if (createRole && !shared.grantable) {
      faults.push(
        `the role ${shared.name} exists and ${role} may not grant it: grant ${shared.name} to ${admin} with admin option`,
      );
    }
  }
  return faults;
}

/** Restrictions that Plinth can work with; one line each with the consequence. */
export function capabilityWarnings(capabilities: ServerCapabilities, serviceBypassesRls: boolean): string[] {
  const { version, role, superuser, openDatabases } = capabilities;
  const warnings: string[] = [];
  if (!superuser) {
    warnings.push(
      `${role} is not a superuser, so there are no event triggers: DDL is seen by polling, and a new table is closed to ` +
        'anon and authenticated until Plinth has turned row-level security on for it, within a second of use',
    );
  }
  if (!serviceBypassesRls) {
    warnings.push(
      'service_role cannot be given BYPASSRLS: a policy "plinth_service_role" on every table opens it to the ' +
        'service-role key instead; restrictive policies apply to that key too',
    );
  }
  if (version < 16) warnings.push('before PostgreSQL 16 projects cannot create roles');
  if (version < 15) {
    warnings.push(
      "before PostgreSQL 15 views run with their owner's rights, so client roles get no grant on them",
    );
    if (!superuser)
      warnings.push('the schema public of each project stays writable for all roles of that project');
  }
  if (openDatabases.length > 0) {
    warnings.push(
      `any role of the server, including the roles of projects, may connect to ${openDatabases.join(', ')}: ` +
        'revoke connect on database ... from public',
    );
  }
  return warnings;
}

/**
 * The group of all roles with LOGIN that Plinth creates. The embedded PostgreSQL admits its members only, and the
 * pg_hba.conf of another server can do the same (docs/reference/administration.md). It exists from PostgreSQL 16 on; in earlier
 * versions owners cannot create roles.
 */
export const LOGIN_GROUP = 'plinth_logins';

/** The first version in which owners may create roles, and in which GRANT ... WITH INHERIT FALSE exists. */
export const LOGIN_GROUP_SINCE = 16;
