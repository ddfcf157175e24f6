/** The database that new projects are copied from: migrated once per schema version, then only copied. */
import { Injectable, Logger } from '@nestjs/common';
import { Client } from 'pg';
import { createHash, randomUUID } from 'node:crypto';
import { createClosedDatabase } from '../database/platform/closed-database';
import {
  capabilityWarnings,
  missingCapabilities,
  readCapabilities,
  ServerCapabilities,
  ServerUnusableError,
} from '../database/platform/server-capabilities';
import { quoteIdentifier, quoteLiteral } from '../database/sql/identifier';
import { randomSecret } from '../infra/crypto/random';
import { DatabaseServer } from './database-server';
import { EVENT_TRIGGERS_REVISION, installEventTriggers } from './event-triggers';
import {
  loginGroupGrant,
  ensureGlobalRoles,
  ensureLoginGroup,
  joinRole,
  serviceBypassesRls,
} from './global-roles';
import { migrateProjectDatabase, PROJECT_SCHEMA_VERSION } from './project-migrations';

/** A server on which projects can be created. */
export interface PreparedServer {
  readonly capabilities: ServerCapabilities;
  readonly serviceBypassesRls: boolean;
  readonly template: string;
  /** Owns the objects of the template; a new project's owner takes them over. */
  readonly templateOwner: string;
}

@Injectable()
export class TemplateDatabase {
  private readonly logger = new Logger(TemplateDatabase.name);
  private readonly ready = new Map<string, Promise<PreparedServer>>();

  /**
   * Makes sure that the server has the shared roles and an up-to-date template; once per server and process.
   * @throws ServerUnusableError listing the rights that the admin role lacks
   */
  async ensureOn(server: DatabaseServer): Promise<PreparedServer> {
    let prepared = this.ready.get(server.key);
    if (!prepared) {
      prepared = this.prepare(server);
      this.ready.set(server.key, prepared);
      prepared.catch(() => this.ready.delete(server.key));
    }
    return prepared;
  }

  private async prepare(server: DatabaseServer): Promise<PreparedServer> {
    return server.exclusively(async (client) => {
      const capabilities = await readCapabilities(client);
      const faults = missingCapabilities(capabilities);
      if (faults.length > 0) throw new ServerUnusableError(faults);
      await ensureGlobalRoles(client, capabilities);
      await ensureLoginGroup(client, capabilities);
      const openDatabases = await closeMaintenanceDatabases(client, capabilities);
      const bypasses = await serviceBypassesRls(client);
      for (const warning of capabilityWarnings({ ...capabilities, openDatabases }, bypasses)) {
        this.logger.warn(`PostgreSQL at ${server.host}:${server.port}: ${warning}`);
      }
      const prepared = { capabilities, serviceBypassesRls: bypasses, ...namesFor(capabilities) };
      await assertOwnDatabases(client, [prepared.template, draftOf(prepared)]);
      const isTrusted = await freeTemplateOwner(client, prepared);
      const { rowCount } = await client.query('select from pg_database where datname = $1', [
        prepared.template,
      ]);
      if (rowCount === 0 || !isTrusted) await buildTemplate(server, client, prepared);
      return prepared;
    });
  }
}

/** Each admin role without SUPERUSER has its own template: it can neither copy another role's nor transfer its objects. */
function namesFor({
  superuser,
  role,
}: ServerCapabilities): Pick<PreparedServer, 'template' | 'templateOwner'> {
  const suffix = superuser ? '' : `_${createHash('sha256').update(role).digest('hex').slice(0, 8)}`;
  return {
    template: `plinth_template_${PROJECT_SCHEMA_VERSION}_${EVENT_TRIGGERS_REVISION}${suffix}`,
    templateOwner: `plinth_template_owner${suffix}`,
  };
}

/**
 * `postgres` and `template1` allow every role to connect by default. Databases of other applications are not changed.
 * @returns the databases that every role may still connect to
 */
async function closeMaintenanceDatabases(
  client: Client,
  capabilities: ServerCapabilities,
): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select datname as name from pg_database where datname in ('postgres', 'template1') and datname = any ($1)
       and pg_has_role(datdba, 'USAGE')`,
    [capabilities.openDatabases],
  );
  const closed = rows.map(({ name }) => name);
  for (const name of closed) {
    await client.query(`revoke connect, temporary on database ${quoteIdentifier(name)} from public`);
  }
  return capabilities.openDatabases.filter((name) => !closed.includes(name));
}

const draftOf = ({ template }: PreparedServer): string => `${template}_draft`;

/**
 * Another role with CREATEDB may have taken the name of a template, to have it copied.
 * @throws ServerUnusableError
 */
async function assertOwnDatabases(client: Client, names: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ name: string; owner: string }>(
    `select datname as name, rolname as owner from pg_database d join pg_roles r on r.oid = d.datdba
     where datname = any ($1) and not rolsuper and rolname <> current_user order by 1`,
    [names],
  );
  const faults = rows.map(
    ({ name, owner }) => `the database ${name} belongs to the role ${owner}: drop or rename it`,
  );
  if (faults.length > 0) throw new ServerUnusableError(faults);
}

/**
 * An owner may have created a role with the name of the template's owner, and would then enter the template with its rights. Such a
 * role is renamed.
 * @returns false if there was one: a template that it owns is not to be copied
 * @throws ServerUnusableError when the admin role may not rename it
 */
async function freeTemplateOwner(
  client: Client,
  { capabilities, templateOwner }: PreparedServer,
): Promise<boolean> {
  const { rows } = await client.query<{ member: string }>(
    `select r.rolname as member from pg_auth_members m join pg_roles r on r.oid = m.member
     where m.roleid = (select oid from pg_roles where rolname = $1) and not r.rolsuper and r.rolname <> current_user`,
    [templateOwner],
  );
  const [taken] = rows;
  if (!taken) return true;
  const fault = `the role ${templateOwner} exists, and ${taken.member} is a member of it: drop or rename it`;
  if (!capabilities.superuser) throw new ServerUnusableError([fault]);
  const former = quoteIdentifier(`plinth_former_${randomUUID()}`);
  await client.query(`alter role ${quoteIdentifier(templateOwner)} rename to ${former}`);
  return false;
}

/** Built under another name and renamed when complete: the next attempt replaces the draft that a crash left. */
async function buildTemplate(
  server: DatabaseServer,
  client: Client,
  prepared: PreparedServer,
): Promise<void> {
  const { capabilities, template, templateOwner } = prepared;
  const name = draftOf(prepared);
  const [draft, owner] = [quoteIdentifier(name), quoteIdentifier(templateOwner)];
  const password = randomSecret();
  await client.query(`drop database if exists ${draft} with (force)`);
  await client.query(`drop database if exists ${quoteIdentifier(template)} with (force)`);
  await ensureTemplateOwner(client, prepared);
  await client.query(`alter role ${owner} login password ${quoteLiteral(password)}`);
  const grant = { rights: 'create, connect', role: templateOwner } as const;
  await createClosedDatabase(client, name, `template template0 encoding 'UTF8'`, grant);
  await server.asAdmin(name, async (inDraft) => {
    if (await mayAlterPublic(inDraft)) await inDraft.query(`alter schema public owner to ${owner}`);
    // TypeORM creates its list of migrations in this schema before it runs the first one.
    await inDraft.query(`create schema extensions authorization ${owner}`);
  });
  await migrateProjectDatabase(server.configFor(name, templateOwner, password));
  if (capabilities.superuser) await server.asAdmin(name, installEventTriggers);
  await client.query(`alter role ${owner} nologin password null`);
  await client.query(`alter database ${draft} rename to ${quoteIdentifier(template)}`);
  // PostgreSQL refuses to copy a database that has connections.
  await client.query(`alter database ${quoteIdentifier(template)} allow_connections false`);
}

async function ensureTemplateOwner(
  client: Client,
  { capabilities, templateOwner }: PreparedServer,
): Promise<void> {
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [templateOwner]);
  if (rowCount === 0) await client.query(`create role ${quoteIdentifier(templateOwner)} nologin noinherit`);
  await client.query(loginGroupGrant(capabilities, templateOwner));
  if (!capabilities.superuser) await joinRole(client, templateOwner, capabilities);
}

/** Before PostgreSQL 15 the schema belongs to the superuser that created the cluster. */
export async function mayAlterPublic(client: Client): Promise<boolean> {
  const { rowCount } = await client.query(
    `select from pg_namespace where nspname = 'public' and pg_has_role(nspowner, 'USAGE')`,
  );
  return rowCount === 1;
}
