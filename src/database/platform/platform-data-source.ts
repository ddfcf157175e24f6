/**
 * The platform database: projects, their secrets, staff, the audit log. Reached through TypeORM, with its own
 * migrations.
 */
import { Client } from 'pg';
import { DataSource, EntityTarget, ObjectLiteral } from 'typeorm';
import { causeOf, codeOf } from '../../common/errors/error-facts';
import { HostListClient, type HostListConfig } from '../../pg-pipeline';
import { quoteIdentifier } from '../sql/identifier';
import { lockAsAdmin } from '../pools/admin-lock';
import { answers, withConnection } from '../pools/one-off-connection';
import { endWhenSilent, REQUEST_CONNECT_MS } from '../pools/silence';
import { migrationsIn } from './migrations-in';
import { QUIET_LOGGER } from './quiet-logger';
import { createClosedDatabase, openClosedDatabase, stateOfDatabase } from './closed-database';
import { missingCapabilities, readCapabilities, ServerUnusableError } from './server-capabilities';

const PLATFORM_MIGRATIONS = migrationsIn('platform');

/** Advisory lock that serialises the migrations of replicas that start together. The number is arbitrary. */
const MIGRATION_LOCK = '7046101';

const INVALID_CATALOG_NAME = '3D000';
/** SQLSTATE of a database that accepts no connections (object_not_in_prerequisite_state). */
const CLOSED_DATABASE = '55000';
const ABSENT: ReadonlySet<string> = new Set([INVALID_CATALOG_NAME, CLOSED_DATABASE]);
const CONNECT_TIMEOUT_MS = 10_000;
const LOGIN_ATTEMPTS = 5;
/** What a client sees if the server closes the connection during the login, as after `authentication_timeout`. */
const DROPPED: ReadonlySet<string> = new Set(['EPIPE', 'ECONNRESET']);

/**
 * Connects, creates the database if it is missing, and migrates it.
 * @param url the URL of the platform database, as a role with CREATEDB and CREATEROLE
 * @throws ServerUnusableError listing everything that is missing
 */
export async function openPlatformDatabase(
  url: string,
  entities: EntityTarget<ObjectLiteral>[],
): Promise<DataSource> {
  await prepareDatabase(url);
  const dataSource = new DataSource({
    type: 'postgres',
    url,
    entities: entities as never[],
    migrations: PLATFORM_MIGRATIONS,
    applicationName: 'plinth-platform',
    poolSize: 8,
    logger: QUIET_LOGGER,
    extra: { connectionTimeoutMillis: REQUEST_CONNECT_MS, Client: PlatformClient },
  });
  await connected(url, async (client) => {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    // Runs before anything is changed.
    await assertKnownMigrations(client);
    await revokePublicConnect(client);
    await dataSource.initialize();
    await dataSource.runMigrations({ transaction: 'each' });
    await openStatementStatistics(client);
  });
  return dataSource;
}

class PlatformClient extends HostListClient {
  constructor(config: HostListConfig) {
    super(config);
    endWhenSilent(this, () => answers(config));
  }
}

/** Refuses a database that was migrated by a newer version, or by a development version from before 0.1.0 (docs/guides/upgrades.md). */
async function assertKnownMigrations(client: Client): Promise<void> {
  const { rows: tables } = await client.query<{ found: boolean }>(
    `select to_regclass('public.migrations') is not null as found`,
  );
  if (!tables[0]?.found) return;
  const { rows } = await client.query<{ name: string }>('select name from public.migrations order by id');
  const known = PLATFORM_MIGRATIONS.map(({ name }) => name);
  const unknown = rows.map(({ name }) => name).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  const isNewer = unknown.some((name) => timeOf(name) > timeOf(known.at(-1) ?? ''));
  const [maker, remedy] = isNewer
    ? ['a newer version of Plinth', 'start that version or a later one']
    : ['a development version from before 0.1.0', 'no later version can open it; start that version'];
  throw new ServerUnusableError([
    `${maker} made or migrated the platform database (${unknown.join(', ')}): ${remedy} (docs/guides/upgrades.md). Nothing was changed`,
  ]);
}

/** The time at the end of a migration's name. */
const timeOf = (name: string): number => Number(/\d+$/.exec(name)?.[0] ?? 0);

/**
 * Where the server loads pg_stat_statements, as the embedded one does, the platform database shows it to
 * administrators. Owners of projects can neither connect here nor create the extension in their databases.
 */
async function openStatementStatistics(client: Client): Promise<void> {
  const { rowCount } = await client.query(
    `select from pg_roles where rolname = current_user and rolsuper
       and current_setting('pg_stat_statements.max', true) is not null`,
  );
  if (rowCount === 1) await client.query('create extension if not exists pg_stat_statements');
}

async function prepareDatabase(url: string): Promise<void> {
  const target = new URL(url);
  const name = decodeURIComponent(target.pathname.slice(1)) || decodeURIComponent(target.username);
  try {
    await connected(url, assertUsable);
  } catch (error) {
    if (!ABSENT.has(codeOf(causeOf(error)) ?? '')) throw error;
    target.pathname = '/postgres';
    await connected(
      target.href,
      async (client) => {
        await assertUsable(client);
        await createDatabase(client, target.href, name);
      },
      `the database "${name}" does not exist and cannot be created`,
    );
  }
}

async function assertUsable(client: Client): Promise<void> {
  const faults = missingCapabilities(await readCapabilities(client));
  if (faults.length > 0) throw new ServerUnusableError(faults);
}

/** Serialises processes that start together. A database whose creation was interrupted is opened. */
async function createDatabase(client: Client, maintenanceUrl: string, name: string): Promise<void> {
  await lockAsAdmin(client, MIGRATION_LOCK, (work) =>
    withConnection({ connectionString: maintenanceUrl }, work),
  );
  const state = await stateOfDatabase(client, name);
  if (state === 'absent') await createClosedDatabase(client, name, '', null);
  if (state === 'interrupted') await openClosedDatabase(client, name, null);
  if (state === 'closed') {
    const open = `alter database ${quoteIdentifier(name)} allow_connections true`;
    throw new ServerUnusableError([
      `the database "${name}" was closed to connections; this opens it, as its owner or a superuser: ${open}`,
    ]);
  }
}

/** Refuses roles of projects. capabilityWarnings() reports it where the role is not the database's owner. */
async function revokePublicConnect(client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select datname as name from pg_database where datname = current_database()
       and has_database_privilege('public', oid, 'connect') and pg_has_role(datdba, 'USAGE')`,
  );
  const name = rows[0]?.name;
  if (name === undefined) return;
  await client.query(`revoke all on database ${quoteIdentifier(name)} from public`);
  // Sessions outlive the right to connect. Without SUPERUSER, only sessions of its own roles can be ended.
  await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = $1 and usesysid is not null and not has_database_privilege(usesysid, datid, 'connect')
       and pg_has_role(usesysid, 'USAGE')`,
    [name],
  );
}

/**
 * Like withConnection, but reports in one line a server that cannot be reached or refuses the role.
 * @param consequence what the missing connection causes, put in front of the reason
 * @throws ServerUnusableError
 */
async function connected<T>(
  url: string,
  work: (client: Client) => Promise<T>,
  consequence = `no connection to ${addressOf(url)}`,
): Promise<T> {
  let isConnected = false;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await withConnection(
        { connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS },
        (client) => {
          isConnected = true;
          return work(client);
        },
      );
    } catch (error) {
      if (isConnected) throw error;
      // A process that starts on a busy machine may answer too late for the server.
      if (attempt < LOGIN_ATTEMPTS && DROPPED.has(codeOf(error) ?? '')) continue;
      throw new ServerUnusableError([`${consequence}: ${reasonOf(error)}`], { cause: error });
    }
  }
}

/** Parsed as node-postgres parses the URL, which may name a socket in a parameter. */
function addressOf(url: string): string {
  const { host, port } = new Client({ connectionString: url });
  return `${host}:${port}`;
}

function reasonOf(error: unknown): string {
  // Node gives an AggregateError without a message when all addresses of a name refuse the connection.
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  if (!(error instanceof Error)) return String(error);
  // Without a code of the system or of PostgreSQL, the other side closed the connection, did not answer, or spoke another
  // protocol.
  return codeOf(error) === undefined ? `${error.message} (is it a PostgreSQL server?)` : error.message;
}
