// Stops the PostgreSQL that global-setup.ts started, and removes its directory.
import { rm } from 'node:fs/promises';
import './global-setup';

export default async function globalTeardown(): Promise<void> {
  const cluster = globalThis.plinthTestCluster;
  if (!cluster) return;
  globalThis.plinthTestCluster = undefined;
  delete process.env.PLINTH_TEST_DATABASE_URL;
  await cluster.postgres.stop();
  await rm(cluster.dataDir, { recursive: true, force: true });
}
