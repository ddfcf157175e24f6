/**
 * Migrations of a project's database, run as its owner role: never as a superuser, because they may fire owner
 * code.
 */
import { DataSource } from 'typeorm';
import type { HostListConfig } from '../pg-pipeline';
import { BoundedClient } from '../database/pools/one-off-connection';
import { OWNER_WORK_OPTIONS } from '../database/pools/session-state';
import { migrationsIn } from '../database/platform/migrations-in';
import { QUIET_LOGGER } from '../database/platform/quiet-logger';

export const PROJECT_MIGRATIONS = migrationsIn('project');

/** The schema version after each migration: the number of migrations so far, and the time of the last one. */
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
/**
 * Milliseconds for which migrations wait for locks: the start of Plinth waits for migrations, and an owner's
 * locks and triggers can block them.
 */
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
