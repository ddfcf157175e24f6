/** Migrations of a project's database, run as its owner role: never as a superuser, because owner code may fire. */
import { ClientConfig } from 'pg';
import { DataSource } from 'typeorm';
import { BoundedClient } from '../../database/pools/bounded-client';
import { QUIET_LOGGER } from '../../database/platform/quiet-logger';
import { Foundation1790000000001 } from '../../../migrations/project/1790000000001-foundation';
import { Auth1790000000002 } from '../../../migrations/project/1790000000002-auth';
import { Storage1790000000003 } from '../../../migrations/project/1790000000003-storage';
import { StorageQuotas1790000000005 } from '../../../migrations/project/1790000000005-storage-quotas';
import { SecondFactors1790000000011 } from '../../../migrations/project/1790000000011-second-factors';
import { CallerId1790000000021 } from '../../../migrations/project/1790000000021-caller-id';
import { StorageTotals1790000000025 } from '../../../migrations/project/1790000000025-storage-totals';
import { StorageUploadCost1790000000027 } from '../../../migrations/project/1790000000027-storage-upload-cost';
import { StorageChargeOrder1790000000031 } from '../../../migrations/project/1790000000031-storage-charge-order';
import { StorageListCost1790000000043 } from '../../../migrations/project/1790000000043-storage-list-cost';
import { StorageTotalProof1790000000047 } from '../../../migrations/project/1790000000047-storage-total-proof';

export const PROJECT_MIGRATIONS = [
  Foundation1790000000001,
  Auth1790000000002,
  Storage1790000000003,
  StorageQuotas1790000000005,
  SecondFactors1790000000011,
  CallerId1790000000021,
  StorageTotals1790000000025,
  StorageUploadCost1790000000027,
  StorageChargeOrder1790000000031,
  StorageListCost1790000000043,
  StorageTotalProof1790000000047,
];

/** Changes with every migration that is added; the version of a template and of each project. */
export const PROJECT_SCHEMA_VERSION = `${PROJECT_MIGRATIONS.length}_${PROJECT_MIGRATIONS.at(-1)?.name.slice(-13)}`;

const CONNECT_TIMEOUT_MS = 10_000;
/** Milliseconds: the start of the server waits for migrations, which an owner's locks and triggers may hold up. */
const LOCK_TIMEOUT_MS = 10_000;
const STATEMENT_TIMEOUT_MS = 300_000;

type OwnerConnection = ClientConfig & { readonly password: string };

/** Brings one project's database to PROJECT_SCHEMA_VERSION. */
export async function migrateProjectDatabase(owner: OwnerConnection): Promise<void> {
  const dataSource = projectDataSource(owner);
  await dataSource.initialize();
  try {
    await dataSource.runMigrations({ transaction: 'each' });
  } finally {
    await dataSource.destroy();
  }
}

/** One connection as the owner, for migrations alone. */
export function projectDataSource(owner: OwnerConnection): DataSource {
  return new DataSource({
    type: 'postgres',
    host: owner.host,
    port: owner.port,
    database: owner.database,
    username: owner.user,
    password: owner.password,
    migrations: PROJECT_MIGRATIONS,
    migrationsTableName: 'plinth_migrations',
    schema: 'extensions',
    applicationName: 'plinth-migrations',
    poolSize: 1,
    logger: QUIET_LOGGER,
    extra: {
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      ssl: owner.ssl,
      // The list of migrations is a table in the owner's hands.
      Client: BoundedClient,
    },
  });
}
