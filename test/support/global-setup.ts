// Starts one PostgreSQL for all workers of a test run, unless PLINTH_TEST_DATABASE_URL names another server.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';
import { withConnection } from '../../src/database/pools/one-off-connection';
import { openPlatformDatabase } from '../../src/database/platform/platform-data-source';
import { quoteLiteral } from '../../src/database/sql/identifier';
import { migrateQueueSchema } from '../../src/infra/queue/queue-backend';

/**
 * Test clusters need not survive a power failure, and are several times faster without durability. The
 * databases of tests live for seconds, but autovacuum would visit all of them every minute. Each start of
 * Plinth logs in twenty times. Checkpoints, new files of the log and reads by processes other than the
 * session's take a quarter of the processor time of CREATE DATABASE and of a connection.
 */
const VOLATILE = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  scram_iterations: '1',
  wal_init_zero: 'off',
  wal_recycle: 'off',
  checkpoint_timeout: '1h',
  io_method: 'sync',
};

export interface TestCluster {
  postgres: EmbeddedPostgres;
  dataDir: string;
}

declare global {
  // Jest loads setup and teardown as separate modules of one process.
  var plinthTestCluster: TestCluster | undefined;
}

/** Several Jest projects use this file. The first call sets a variable, after which later calls do nothing. */
export default async function globalSetup(): Promise<void> {
  // The OpenAPI document of this run, for documented/exchange-check.ts.
  process.env.PLINTH_TEST_DOCUMENT ??= path.join(
    await mkdtemp(path.join(tmpdir(), 'plinth-test-document-')),
    'openapi.json',
  );
  if (process.env.PLINTH_TEST_DATABASE_URL) return;
  const dataDir = await mkdtemp(path.join(tmpdir(), 'plinth-test-'));
  const postgres = await EmbeddedPostgres.start({ dataDir, settings: VOLATILE });
  globalThis.plinthTestCluster = { postgres, dataDir };
  process.env.PLINTH_TEST_DATABASE_URL = postgres.url;
  await createPlatformTemplate(new URL(postgres.url));
}

/** A platform database with all migrations, of which each TestPlinth has a copy. */
async function createPlatformTemplate(server: URL): Promise<void> {
  const url = new URL(server);
  url.pathname = '/plinth_test_template';
  await (await openPlatformDatabase(url.href, [])).destroy();
  await migrateQueueSchema(url.href);
  await withConnection({ connectionString: server.href }, async (client) => {
    // Sets the password again, because its verifier was made before scram_iterations was set.
    await client.query(`alter role current_user password ${quoteLiteral(server.password)}`);
    await client.query('alter database plinth_test_template allow_connections false');
  });
  process.env.PLINTH_TEST_PLATFORM_TEMPLATE = 'plinth_test_template';
}
