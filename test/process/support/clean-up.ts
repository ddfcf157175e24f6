// Removes what build.ts made.
import { rm } from 'node:fs/promises';
import path from 'node:path';

export default async function cleanUp(): Promise<void> {
  const template = process.env.PLINTH_TEST_FIRST_START;
  delete process.env.PLINTH_TEST_FIRST_START;
  delete process.env.PLINTH_TEST_CLUSTER;
  delete process.env.PLINTH_TEST_COMPILE_CACHE;
  if (template) await rm(path.dirname(template), { recursive: true, force: true });
}
