/** What build.ts makes once, for tests with servers or data directories of their own. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import {
  EmbeddedPostgres,
  type EmbeddedPostgresOptions,
} from '../../../src/database/embedded/embedded-postgres';

/** Copies the data directory of an install that was started once. @param dataDir a path at which nothing exists */
export const copyFirstStart = (dataDir: string): Promise<void> => copy('PLINTH_TEST_FIRST_START', dataDir);

/** Copies an empty cluster. All copies have the same system identifier. @param dataDir a path at which nothing exists */
export const copyCluster = (dataDir: string): Promise<void> => copy('PLINTH_TEST_CLUSTER', dataDir);

/** Starts PostgreSQL in a new data directory, which is not durable, without initdb. */
export async function startPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  await copyCluster(options.dataDir);
  return EmbeddedPostgres.start({ ...options, settings: { fsync: 'off', ...options.settings } });
}

async function copy(variable: string, target: string): Promise<void> {
  const source = process.env[variable];
  if (source === undefined) throw new Error(`${variable} is not set: build.ts sets it`);
  await promisify(execFile)('cp', ['-a', source, target]);
}
