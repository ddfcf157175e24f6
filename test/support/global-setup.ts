// Starts one PostgreSQL for all workers of a test run, unless PLINTH_TEST_DATABASE_URL names another server.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';

/** Test clusters need not survive a power failure, and are several times faster without these guarantees. */
const VOLATILE = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

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
}
