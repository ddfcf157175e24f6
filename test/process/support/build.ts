// Builds the product before process tests, which run the build, and makes the data directory that most of
// them start with, and V8's code of the build.
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { PlinthProcess } from '../../support/plinth-process';

const SET_UP = pathToFileURL(path.resolve(__dirname, '../../../scripts/lib/set-up.mjs')).href;

export default async function build(): Promise<void> {
  const script = `import { setUp } from '${SET_UP}'; await setUp({ development: true, quiet: true });`;
  execFileSync(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'inherit' });
  const dataDir = mkdtempSync(path.join(tmpdir(), 'plinth-first-start-'));
  process.env.PLINTH_TEST_COMPILE_CACHE = path.join(dataDir, 'compile-cache');
  const plinth = await PlinthProcess.start({ dataDir });
  await plinth.end('SIGTERM');
  process.env.PLINTH_TEST_FIRST_START = path.join(dataDir, 'data');
}
