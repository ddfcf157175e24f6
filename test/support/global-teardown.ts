// Stops the PostgreSQL that global-setup.ts started, and removes its directory.
import { rm } from 'node:fs/promises';
import path from 'node:path';
import './global-setup';

export default async function globalTeardown(): Promise<void> {
  const document = process.env.PLINTH_TEST_DOCUMENT;
  delete process.env.PLINTH_TEST_DOCUMENT;
  if (document) await rm(path.dirname(document), { recursive: true, force: true });
  const cluster = globalThis.plinthTestCluster;
  if (!cluster) return;
  globalThis.plinthTestCluster = undefined;
  delete process.env.PLINTH_TEST_DATABASE_URL;
  delete process.env.PLINTH_TEST_PLATFORM_TEMPLATE;
  await cluster.postgres.stop();
  await rm(cluster.dataDir, { recursive: true, force: true });
}
