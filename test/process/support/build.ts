// Builds the product before process tests, which run the build, and makes what most of them start with: an empty cluster of
// PostgreSQL, the data directory of a first start, and V8's code of the build.
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { EmbeddedPostgres } from '../../../src/database/embedded/embedded-postgres';
import { PlinthProcess } from '../../support/plinth-process';

const SET_UP = pathToFileURL(path.resolve(__dirname, '../../../scripts/lib/set-up.mjs')).href;

export default async function build(): Promise<void> {
  const script = `import { setUp } from '${SET_UP}'; await setUp({ development: true, quiet: true });`;
  execFileSync(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'inherit' });
  const dataDir = mkdtempSync(path.join(tmpdir(), 'plinth-first-start-'));
  const [cluster, data] = ['cluster', 'data'].map((name) => path.join(dataDir, name)) as [string, string];
  const postgres = await EmbeddedPostgres.start({ dataDir: cluster, settings: { fsync: 'off' } });
  await postgres.stop();
  execFileSync('cp', ['-a', cluster, data]);
  process.env.PLINTH_TEST_COMPILE_CACHE = path.join(dataDir, 'compile-cache');
  const plinth = await PlinthProcess.start({ dataDir });
  await plinth.end('SIGTERM');
  process.env.PLINTH_TEST_CLUSTER = cluster;
  process.env.PLINTH_TEST_FIRST_START = data;
}
