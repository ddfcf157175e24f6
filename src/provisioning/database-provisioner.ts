/** Creates and drops one project's database and roles. Every step can be repeated after a crash. */
import { createHash } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { Client } from 'pg';
import { codeOf } from '../common/errors/error-facts';
import { REQUEST_ROLES, ServerCapabilities } from '../database/platform/server-capabilities';
import { createClosedDatabase } from '../database/platform/closed-database';
import { LOCK_NOT_AVAILABLE } from '../database/sql/sqlstate';
import { lockKeyOf } from '../database/pools/admin-lock';
import { withConnection } from '../database/pools/one-off-connection';
import { quoteIdentifier, quoteLiteral } from '../database/sql/identifier';
import { DatabaseServer, MAINTENANCE_DATABASE } from './database-server';
import { dropDatabase, endSessions, openForDropping, rolesOf, rollBackPrepared } from './drop-database';
import { installEventTriggers } from './event-triggers';
import { joinRole, limitsOf, loginGroupGrant } from './global-roles';
import { ObstacleWatch } from './obstacle-watch.service';
import { databaseTaken } from './provisioning.errors';
import { ADOPT } from './relation-adoption';
import { mayAlterPublic, PreparedServer, TemplateDatabase } from './template-database';

/** Names and passwords of a new database and its roles. */
export interface DatabaseBlueprint {
  readonly database: string;
  readonly ownerRole: string;
  readonly ownerPassword: string;
  readonly loginRole: string;
  readonly loginPassword: string;
}

/** An extension of a backup that its owner could not create. */
export interface AdminExtension {
  readonly name: string;
  readonly schema: string;
}

type Names = Pick<DatabaseBlueprint, 'database' | 'ownerRole' | 'loginRole'>;

/** Maximum number of connections of an owner: psql, migration tools. */
const OWNER_CONNECTIONS = 40;
/**
 * Longer than a checkpoint and the removal of a large database's files. A drop that takes longer is repeated
 * later.
 */
const DROP_LIMIT = '5min';
/** Longer than ObstacleWatch takes to end sessions of projects that hold a lock. */
const LOCK_LIMIT = '30s';
const DEPENDENT_OBJECTS = '2BP01';
/** Prefix of the mark that names the creation to which a project's roles and database belong. */
const MARK = 'plinth: created by';

@Injectable()
export class DatabaseProvisioner {
  private readonly logger = new Logger(DatabaseProvisioner.name);

  constructor(
    private readonly template: TemplateDatabase,
    private readonly obstacles: ObstacleWatch,
  ) {}

  /**
   * Creates the roles and the database; both are complete when it resolves.
   * @returns polled: whether RelationAdopter must secure new tables by polling, because Plinth can create no event
   *   triggers on this server or cannot grant BYPASSRLS
   */
  async create(server: DatabaseServer, plan: DatabaseBlueprint): Promise<{ polled: boolean }> {
    const prepared = await this.template.ensureOn(server);
    await this.createDatabase(server, plan, prepared, `template ${quoteIdentifier(prepared.template)}`);
    await this.admitOwner(server, plan);
    // The copy contains no code of the owner yet, so the admin role can still work in it.
    await server.asAdmin(plan.database, (client) => handOver(client, plan, prepared));
    const polled = !prepared.capabilities.superuser || !prepared.serviceBypassesRls;
    if (polled) {
      const owner = server.configFor(plan.database, plan.ownerRole, plan.ownerPassword);
      await withConnection(owner, (client) => client.query(ADOPT));
    }
    return { polled };
  }

  /**
   * Creates the roles and a database for a backup: the database contains only the event triggers and these
   * extensions, which require the admin role. Archived SQL runs later, as the owner, which until admitOwner() is not
   * a member of the roles that all projects share and may create none: such SQL cannot change global objects.
   */
  async createEmpty(
    server: DatabaseServer,
    plan: DatabaseBlueprint,
    extensions: readonly AdminExtension[],
  ): Promise<{ polled: boolean }> {
    const prepared = await this.template.ensureOn(server);
    await this.createDatabase(server, plan, prepared, `template template0 encoding 'UTF8'`);
    await server.asAdmin(plan.database, async (client) => {
      const owner = quoteIdentifier(plan.ownerRole);
      if (prepared.capabilities.superuser) await installEventTriggers(client);
      if (await mayAlterPublic(client)) await client.query(`alter schema public owner to ${owner}`);
      for (const { name, schema } of extensions) {
        const [extension, into] = [quoteIdentifier(name), quoteIdentifier(schema)];
        await client.query(`create schema if not exists ${into} authorization ${owner}`);
        await client.query(`create extension if not exists ${extension} with schema ${into}`);
      }
    });
    return { polled: !prepared.capabilities.superuser || !prepared.serviceBypassesRls };
  }

  /**
   * Gives the owner of a new database its rights on roles. First ends the sessions in the database, and sets
   * the password and the privileges on the database again, which archived SQL may have changed.
   */
  async admitOwner(server: DatabaseServer, plan: DatabaseBlueprint): Promise<void> {
    const { capabilities } = await this.template.ensureOn(server);
    const owner = quoteIdentifier(plan.ownerRole);
    // From PostgreSQL 16 on CREATEROLE covers only roles that the owner created, so owners may have it.
    const createRole = capabilities.version >= 16 ? 'createrole' : '';
    await this.administer(server, async (client) => {
      await client.query(setPassword(plan.ownerRole, plan.ownerPassword));
      await closeToOthers(client, plan);
      await endSessions(client, plan.database);
      await client.query(
        `alter role ${owner} login ${createRole}; grant ${REQUEST_ROLES.join(', ')} to ${owner}`,
      );
    });
  }

  async hasDatabase(server: DatabaseServer, database: string): Promise<boolean> {
    return server.asAdmin(MAINTENANCE_DATABASE, (client) => databaseExists(client, database));
  }

  private async createDatabase(
    server: DatabaseServer,
    plan: DatabaseBlueprint,
    { capabilities }: PreparedServer,
    source: string,
  ): Promise<void> {
    await this.administer(server, async (client) => {
      // Another installation may be restoring the same backup.
      await server.lock(client, await lockKeyOf(client, plan.database));
      if (await databaseExists(client, plan.database)) throw databaseTaken(plan.database);
      await client.query(freeRoleNames(plan) + createRoles(plan, capabilities));
      if (!capabilities.superuser) {
        await joinRole(client, plan.ownerRole, capabilities);
        await joinRole(client, plan.loginRole, capabilities);
      }
      const options = `owner ${quoteIdentifier(plan.ownerRole)} ${source}`;
      await createClosedDatabase(client, plan.database, options, { rights: 'connect', role: plan.loginRole });
    });
  }

  /**
   * Drops the database and the roles if they exist, whatever the owner changed. Ends sessions that block the
   * drop, including those of other projects. Databases and roles that another installation created are kept.
   */
  async drop(server: DatabaseServer, names: DatabaseBlueprint): Promise<void> {
    await this.administer(server, async (client) => {
      if (await isOfOthers(client, names)) {
        this.logger.warn(`the database ${names.database} was kept: another installation created it`);
        return;
      }
      await client.query(`set statement_timeout = '${DROP_LIMIT}'; set lock_timeout = '${LOCK_LIMIT}'`);
      const roles = await rolesOf(client, names);
      await endSessions(client, names.database);
      // No new session may begin between the end of the old ones and the drop.
      for (const role of roles) await client.query(`alter role ${quoteIdentifier(role)} nologin`);
      await rollBackPrepared(server, client, names.database);
      await openForDropping(client, names.database);
      await dropDatabase(client, names.database);
      for (const role of roles) await this.dropRole(client, role);
    });
  }

  /** Connects for work on global objects, which sessions of projects must not block. */
  private administer<T>(server: DatabaseServer, work: (client: Client) => Promise<T>): Promise<T> {
    return server.asAdmin(MAINTENANCE_DATABASE, (client) =>
      this.obstacles.during(server, client, () => work(client)),
    );
  }

  /**
   * Stores the setting auto_rls as a database parameter, which the event trigger reads. Does nothing where
   * there are no event triggers: only a superuser may set a parameter that PostgreSQL does not know.
   */
  async setAutoRls(server: DatabaseServer, database: string, on: boolean): Promise<void> {
    const { capabilities } = await this.template.ensureOn(server);
    if (!capabilities.superuser) return;
    await this.administer(server, (client) =>
      client.query(`alter database ${quoteIdentifier(database)} set plinth.auto_rls = ${on ? 'on' : 'off'}`),
    );
  }

  /** Gives the owner role its password again: an owner may change it, and Plinth's own work needs it. */
  async resetOwnerPassword(server: DatabaseServer, ownerRole: string, password: string): Promise<void> {
    await this.administer(server, (client) => client.query(setPassword(ownerRole, password)));
  }

  /** Sets a new password of the owner role, and ends the sessions that began with the old one. */
  async replaceOwnerPassword(
    server: DatabaseServer,
    { databaseName, ownerRole }: { databaseName: string; ownerRole: string },
    password: string,
  ): Promise<void> {
    await this.administer(server, async (client) => {
      await client.query(setPassword(ownerRole, password));
      await endSessions(client, databaseName, ownerRole);
    });
  }

  /** Gives the login role its password and its right to connect again: the owner's code can revoke both. */
  async resetLogin(
    server: DatabaseServer,
    { databaseName, loginRole }: { databaseName: string; loginRole: string },
    password: string,
  ): Promise<void> {
    const login = quoteIdentifier(loginRole);
    await this.administer(server, (client) =>
      client.query(`alter role ${login} login password ${quoteLiteral(password)} valid until 'infinity';
        grant connect on database ${quoteIdentifier(databaseName)} to ${login}`),
    );
  }

  /**
   * The role cannot be dropped while another project has granted it privileges or a prepared transaction holds a lock
   * on it. It then stays without LOGIN and password.
   */
  private async dropRole(client: Client, role: string): Promise<void> {
    try {
      await client.query(`drop role if exists ${quoteIdentifier(role)}`);
    } catch (error) {
      if (![DEPENDENT_OBJECTS, LOCK_NOT_AVAILABLE].includes(codeOf(error) ?? '')) throw error;
      await client.query(`alter role ${quoteIdentifier(role)} nologin nocreaterole password null`);
      this.logger.warn(
        `the role ${role} of a deleted project was kept without LOGIN: it has privileges in another database, or a prepared transaction locks it`,
      );
    }
  }
}

async function databaseExists(client: Client, database: string): Promise<boolean> {
  const { rowCount } = await client.query('select from pg_database where datname = $1', [database]);
  return rowCount === 1;
}

/** The comment on a login role, which no owner can change. Two installations that restore one backup use the same names. */
const markOf = ({ loginPassword }: DatabaseBlueprint): string =>
  `${MARK} ${createHash('sha256').update(loginPassword).digest('hex').slice(0, 16)}`;

async function isOfOthers(client: Client, plan: DatabaseBlueprint): Promise<boolean> {
  const { rowCount } = await client.query(
    `select from pg_roles where rolname = $1 and starts_with(shobj_description(oid, 'pg_authid'), $2)
       and shobj_description(oid, 'pg_authid') <> $3`,
    [plan.loginRole, MARK, markOf(plan)],
  );
  return rowCount === 1;
}

/** Leaves privileges on the database to its owner and its login role only. */
async function closeToOthers(client: Client, { database, ownerRole, loginRole }: Names): Promise<void> {
  const { rows } = await client.query<{ grantee: string | null }>(
    `select distinct pg_get_userbyid(nullif(a.grantee, 0)) as grantee from pg_database d, aclexplode(d.datacl) a
     where d.datname = $1 and a.grantee <> d.datdba`,
    [database],
  );
  const others = rows.map(({ grantee }) => (grantee === null ? 'public' : quoteIdentifier(grantee)));
  const [name, owner, login] = [database, ownerRole, loginRole].map(quoteIdentifier);
  const revoke = others.length > 0 ? `revoke all on database ${name} from ${others.join(', ')} cascade;` : '';
  await client.query(
    `${revoke} grant all on database ${name} to ${owner}; grant connect on database ${name} to ${login}`,
  );
}

const setPassword = (role: string, password: string): string =>
  `alter role ${quoteIdentifier(role)} login password ${quoteLiteral(password)} valid until 'infinity'`;

/**
 * SQL that renames roles with the names of a project that has no database: the remains of a deleted project (dropRole), or roles that
 * the owner of another project created to keep a deleted one from being restored.
 */
function freeRoleNames({ database, ownerRole, loginRole }: Names): string {
  return `do $$ declare role text; begin
    for role in select rolname from pg_roles where rolname in (${quoteLiteral(ownerRole)}, ${quoteLiteral(loginRole)})
      and not exists (select from pg_database where datname = ${quoteLiteral(database)})
    loop execute format('alter role %I rename to %I', role, 'plinth_former_' || gen_random_uuid()); end loop;
  end $$;`;
}

/** A single simple query runs as one transaction: creates both roles with the memberships of the login role, or neither. */
function createRoles(plan: DatabaseBlueprint, capabilities: ServerCapabilities): string {
  const [owner, login] = [quoteIdentifier(plan.ownerRole), quoteIdentifier(plan.loginRole)];
  return `
    create role ${owner} login connection limit ${OWNER_CONNECTIONS}
      password ${quoteLiteral(plan.ownerPassword)};
    create role ${login} login noinherit password ${quoteLiteral(plan.loginPassword)};
    comment on role ${login} is ${quoteLiteral(markOf(plan))};
    grant ${REQUEST_ROLES.join(', ')} to ${login};
    alter role ${login} set search_path = public, extensions;
    alter role ${owner} set search_path = public, extensions;
    alter role ${login} set idle_in_transaction_session_timeout = '60s';
    -- JIT compilation takes half a second, more than it saves a typical request. A function may set jit = on for itself.
    alter role ${login} set jit = off;
    ${loginGroupGrant(capabilities, plan.ownerRole, plan.loginRole)} ${limitsOf(capabilities, plan.loginRole)}`;
}

async function handOver(client: Client, plan: DatabaseBlueprint, prepared: PreparedServer): Promise<void> {
  const [owner, login] = [quoteIdentifier(plan.ownerRole), quoteIdentifier(plan.loginRole)];
  const ownersNew = (schema: string): string =>
    `alter default privileges for role ${owner} in schema ${schema}`;
  const templateOwner = quoteIdentifier(prepared.templateOwner);
  await client.query(`
    -- The schemas first: the new owner of an object needs CREATE in its schema.
    do $$ declare name text; begin
      for name in select nspname from pg_namespace where pg_get_userbyid(nspowner) = ${quoteLiteral(prepared.templateOwner)} loop
        execute format('alter schema %I owner to %I', name, ${quoteLiteral(plan.ownerRole)});
      end loop;
    end $$;
    reassign owned by ${templateOwner} to ${owner};
    grant usage on schema auth, storage, extensions, public to ${login};
    grant select, insert, update, delete on all tables in schema auth, storage to ${login};
    grant usage on all sequences in schema auth, storage to ${login};
    ${ownersNew('auth')} grant select, insert, update, delete on tables to ${login};
    ${ownersNew('auth')} grant usage on sequences to ${login};
    ${ownersNew('storage')} grant select, insert, update, delete on tables to ${login};
    ${ownersNew('storage')} grant usage on sequences to ${login};
    ${newTableGrants(prepared)
      .map((grant) => `${ownersNew('public')} ${grant};`)
      .join('\n')}
    ${ownersNew('public')} grant usage, select on sequences to anon, authenticated;
    ${ownersNew('public')} grant all on sequences to service_role;
    ${ownersNew('public')} grant execute on functions to ${REQUEST_ROLES.join(', ')};`);
}

/**
 * All of these privileges are subject to row-level security; TRUNCATE is not, and client roles do not need it.
 * Without event triggers, client roles get no useful privilege until RelationAdopter has secured a table
 * (relation-adoption.ts).
 */
function newTableGrants({ capabilities }: PreparedServer): string[] {
  return capabilities.superuser
    ? [
        'grant select, insert, update, delete on tables to anon, authenticated',
        'grant all on tables to service_role',
      ]
    : [
        'grant references on tables to anon, authenticated',
        'grant select, insert, update, delete, truncate, references on tables to service_role',
      ];
}
