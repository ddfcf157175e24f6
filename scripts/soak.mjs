// `npm run soak`: runs the tests that take minutes each, one file at a time, then some files of `npm test` with all their cases.
// Arguments after `--` go to Jest.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ProgramFailed, run } from './lib/run.mjs';
import { assertNodeVersion, bin, ROOT, setUp } from './lib/set-up.mjs';

assertNodeVersion();
await setUp({ development: true, console: true });
process.env.PLINTH_SOAK = '1';
/** Files that test a part of their cases in `npm test`: those that import test/support/extent.ts, or operate the console. */
const LENGTHENED = ['integration', 'e2e', 'process'].flatMap((folder) =>
  readdirSync(path.join(ROOT, 'test', folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('spec.ts'))
    .map((name) => path.join('test', folder, name))
    .filter((file) => /\/support\/(extent|console-page)'/.test(readFileSync(path.join(ROOT, file), 'utf8'))),
);
const GIVEN = process.argv.slice(2);
const OF_SUITE = [
  '--testPathPatterns',
  LENGTHENED.join('|'),
  '--selectProjects',
  'integration',
  'e2e',
  'process',
];

try {
  await jest('The soak', '--selectProjects', 'soak');
  if (GIVEN.length === 0) await jest('All cases', ...OF_SUITE);
} catch (error) {
  if (!(error instanceof ProgramFailed)) throw error;
  process.stdout.write(`${error.message}\n`);
  process.exitCode = 1;
}

async function jest(name, ...args) {
  const all = [bin('jest', 'bin/jest.js'), ...GIVEN, '--runInBand', ...args];
  await run(name, process.execPath, all, { cwd: ROOT, echo: true });
}
