/**
 * Migrations of a project's database, run as its owner role: never as a superuser, because they may fire owner
 * code.
 */
import { DataSource, type MigrationInterface } from 'typeorm';
import type { HostListConfig } from '../pg-pipeline';
import { BoundedClient } from '../database/pools/one-off-connection';
import { OWNER_WORK_OPTIONS } from '../database/pools/session-state';
import { QUIET_LOGGER } from '../database/platform/quiet-logger';
import { Initial1790000000100 } from '../../migrations/project/1790000000100-initial';
import { RequestedMails1790000000200 } from '../../migrations/project/1790000000200-requested-mails';
import { SupabaseStorage1790000000300 } from '../../migrations/project/1790000000300-supabase-storage';
import { SignInCodes1790000000510 } from '../../migrations/project/1790000000510-sign-in-codes';
import { Realtime1790000000520 } from '../../migrations/project/1790000000520-realtime';
import { Identities1790000000620 } from '../../migrations/project/1790000000620-identities';
import { ResumableUploads1790000000700 } from '../../migrations/project/1790000000700-resumable-uploads';
import { Webhooks1790000001010 } from '../../migrations/project/1790000001010-webhooks';
import { Schedules1790000001011 } from '../../migrations/project/1790000001011-schedules';
import { S3Objects1790000001020 } from '../../migrations/project/1790000001020-s3-objects';
import { Saml1790000001030 } from '../../migrations/project/1790000001030-saml';
import { Passkeys1790000001031 } from '../../migrations/project/1790000001031-passkeys';
import { Renditions1790000001040 } from '../../migrations/project/1790000001040-renditions';
import { BucketAges1790000001041 } from '../../migrations/project/1790000001041-bucket-ages';
import { SecurityKeys1790000001050 } from '../../migrations/project/1790000001050-security-keys';
import { BucketCors1790000001060 } from '../../migrations/project/1790000001060-bucket-cors';
import { Phones1790000001061 } from '../../migrations/project/1790000001061-phones';
import { ScanResults1790000001070 } from '../../migrations/project/1790000001070-scan-results';
import { GrowingUploads1790000001071 } from '../../migrations/project/1790000001071-growing-uploads';
import { ProjectScimGroups1790000001090 } from '../../migrations/project/1790000001090-scim-groups';
import { BucketScans1790000001091 } from '../../migrations/project/1790000001091-bucket-scans';
import { OAuthServer1790000001100 } from '../../migrations/project/1790000001100-oauth-server';

/** In the order in which they are applied. */
export const PROJECT_MIGRATIONS: (new () => MigrationInterface)[] = [
  Initial1790000000100,
  RequestedMails1790000000200,
  SupabaseStorage1790000000300,
  SignInCodes1790000000510,
  Realtime1790000000520,
  Identities1790000000620,
  ResumableUploads1790000000700,
  Webhooks1790000001010,
  Schedules1790000001011,
  S3Objects1790000001020,
  Saml1790000001030,
  Passkeys1790000001031,
  Renditions1790000001040,
  BucketAges1790000001041,
  SecurityKeys1790000001050,
  BucketCors1790000001060,
  Phones1790000001061,
  ScanResults1790000001070,
  GrowingUploads1790000001071,
  ProjectScimGroups1790000001090,
  BucketScans1790000001091,
  OAuthServer1790000001100,
];

/** The version after each migration: their number, and the time of the last one. */
const SCHEMA_VERSIONS = PROJECT_MIGRATIONS.map(({ name }, index) => `${index + 1}_${name.slice(-13)}`);

/** The schema version of a template database and of each project. Changes with every added migration. */
export const PROJECT_SCHEMA_VERSION = SCHEMA_VERSIONS.at(-1) ?? '';

/** Whether migrations lead from this version to the current one. */
export const isKnownVersion = (schemaVersion: string): boolean => SCHEMA_VERSIONS.includes(schemaVersion);

/** False for the current version, and for a newer version, whose processes may run at the same time. */
export function isOutdated(schemaVersion: string): boolean {
  if (schemaVersion === PROJECT_SCHEMA_VERSION) return false;
  const count = /^(\d+)_/.exec(schemaVersion)?.[1];
  return count === undefined || Number(count) <= Number.parseInt(PROJECT_SCHEMA_VERSION, 10);
}

const CONNECT_TIMEOUT_MS = 10_000;
/** Milliseconds for the migrations, for which the start of Plinth waits and which an owner's locks and triggers can block. */
const LOCK_TIMEOUT_MS = 10_000;
const STATEMENT_TIMEOUT_MS = 300_000;

type OwnerConnection = HostListConfig & { readonly password: string };

/** Migrates one project's database to PROJECT_SCHEMA_VERSION. */
export async function migrateProjectDatabase(owner: OwnerConnection): Promise<void> {
  const dataSource = projectDataSource(owner);
  await dataSource.initialize();
  try {
    await dataSource.runMigrations({ transaction: 'each' });
  } finally {
    await dataSource.destroy();
  }
}

/** One connection as the owner, for migrations only. */
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
      hosts: owner.hosts,
      options: OWNER_WORK_OPTIONS,
      // The owner can write any rows into TypeORM's table of migrations.
      Client: BoundedClient,
    },
  });
}
