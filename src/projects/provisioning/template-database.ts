/** The database that new projects are copied from: migrated once per schema version, then only copied. */
import { Injectable } from '@nestjs/common';
import { Client } from 'pg';
import { quoteIdentifier, quoteLiteral } from '../../database/sql/identifier';
import { randomSecret } from '../../infra/crypto/random';
import { DatabaseServer } from './database-server';
import { installEventTriggers } from './event-triggers';
import { ensureGlobalRoles, TEMPLATE_OWNER } from './global-roles';
import { migrateProjectDatabase, PROJECT_SCHEMA_VERSION } from './project-migrations';
import { missingCapabilities, readCapabilities, ServerCapabilities } from './server-capabilities';

const TEMPLATE_NAME = `plinth_template_${PROJECT_SCHEMA_VERSION}`;

/** The admin role of a server cannot do what Plinth needs. */
export class ServerUnusableError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(`The PostgreSQL server cannot be used:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.name = 'ServerUnusableError';
  }
}

@Injectable()
export class TemplateDatabase {
  private readonly ready = new Map<string, Promise<ServerCapabilities>>();

  /** The template's name on every server. */
  readonly name = TEMPLATE_NAME;

  /**
   * Makes sure that the server has the shared roles and an up-to-date template; once per server and process.
   * @throws ServerUnusableError listing what the admin role lacks
   */
  async ensureOn(server: DatabaseServer): Promise<ServerCapabilities> {
    const key = `${server.host}:${server.port}`;
    let prepared = this.ready.get(key);
    if (!prepared) {
      prepared = prepareServer(server);
      this.ready.set(key, prepared);
      prepared.catch(() => this.ready.delete(key));
    }
    return prepared;
  }
}

async function prepareServer(server: DatabaseServer): Promise<ServerCapabilities> {
  return server.exclusively(async (client) => {
    const capabilities = await readCapabilities(client);
    const faults = missingCapabilities(capabilities);
    if (faults.length > 0) throw new ServerUnusableError(faults);
    await ensureGlobalRoles(client, capabilities);
    const { rowCount } = await client.query('select from pg_database where datname = $1', [TEMPLATE_NAME]);
    if (rowCount === 0) await buildTemplate(server, client, capabilities);
    return capabilities;
  });
}

/** Built under another name and renamed when complete: a crash leaves a draft that the next attempt replaces. */
async function buildTemplate(
  server: DatabaseServer,
  client: Client,
  capabilities: ServerCapabilities,
): Promise<void> {
  const draft = `${TEMPLATE_NAME}_draft`;
  const password = randomSecret();
  await client.query(`drop database if exists ${quoteIdentifier(draft)}`);
  await client.query(`alter role ${TEMPLATE_OWNER} login password ${quoteLiteral(password)}`);
  await client.query(`create database ${quoteIdentifier(draft)} template template0 encoding 'UTF8'`);
  await client.query(`revoke all on database ${quoteIdentifier(draft)} from public`);
  await client.query(`grant create, connect on database ${quoteIdentifier(draft)} to ${TEMPLATE_OWNER}`);
  await server.asAdmin(draft, async (inDraft) => {
    await inDraft.query(`alter schema public owner to ${TEMPLATE_OWNER}`);
    // TypeORM keeps its list of migrations here; created first, because the list comes before the first migration.
    await inDraft.query(`create schema extensions authorization ${TEMPLATE_OWNER}`);
  });
  await migrateProjectDatabase(server.configFor(draft, TEMPLATE_OWNER, password));
  if (capabilities.superuser) await server.asAdmin(draft, installEventTriggers);
  await client.query(`alter role ${TEMPLATE_OWNER} nologin password null`);
  await client.query(`alter database ${quoteIdentifier(draft)} rename to ${quoteIdentifier(TEMPLATE_NAME)}`);
}
