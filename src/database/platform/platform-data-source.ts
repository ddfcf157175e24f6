/** The platform database: projects, their secrets, the audit log. Reached through TypeORM, with its own migrations. */
import { DataSource, EntityTarget, ObjectLiteral } from 'typeorm';
import { Projects1790000000001 } from '../../../migrations/platform/1790000000001-projects';
import { PlatformFacts1790000000002 } from '../../../migrations/platform/1790000000002-platform-facts';
import { quoteIdentifier } from '../sql/identifier';
import { withConnection } from '../pools/one-off-connection';

const PLATFORM_MIGRATIONS = [Projects1790000000001, PlatformFacts1790000000002];

/** Serialises migrations of replicas that start together; any constant will do. */
const MIGRATION_LOCK = 7_046_101;

const INVALID_CATALOG_NAME = '3D000';
const DUPLICATE_DATABASE = '42P04';
const UNIQUE_VIOLATION = '23505';

/**
 * Connects, creates the database if it is missing, and migrates it.
 * @param url of the platform database, as a role with CREATEDB
 */
export async function openPlatformDatabase(
  url: string,
  entities: EntityTarget<ObjectLiteral>[],
): Promise<DataSource> {
  await createIfMissing(url);
  const dataSource = new DataSource({
    type: 'postgres',
    url,
    entities: entities as never[],
    migrations: PLATFORM_MIGRATIONS,
    applicationName: 'plinth-platform',
    poolSize: 8,
    extra: { connectionTimeoutMillis: 10_000 },
  });
  await withConnection({ connectionString: url }, async (client) => {
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await dataSource.initialize();
    await dataSource.runMigrations({ transaction: 'each' });
  });
  return dataSource;
}

async function createIfMissing(url: string): Promise<void> {
  try {
    await withConnection({ connectionString: url }, async () => undefined);
  } catch (error) {
    if ((error as { code?: string }).code !== INVALID_CATALOG_NAME) throw error;
    const target = new URL(url);
    const name = decodeURIComponent(target.pathname.slice(1));
    target.pathname = '/postgres';
    await withConnection({ connectionString: target.href }, (client) =>
      client.query(`create database ${quoteIdentifier(name)}`),
    ).catch((failure: { code?: string }) => {
      // A replica that started at the same moment was faster.
      if (failure.code !== DUPLICATE_DATABASE && failure.code !== UNIQUE_VIOLATION) throw failure;
    });
  }
}
