// `npm run soak`: runs the tests that take minutes each, one file at a time, then some files of `npm test` with all their cases.
// Arguments after `--` go to Jest.
import { ProgramFailed, run } from './lib/run.mjs';
import { assertNodeVersion, bin, ROOT, setUp } from './lib/set-up.mjs';

assertNodeVersion();
await setUp({ development: true });
process.env.PLINTH_SOAK = '1';
/** Files that test a part of their cases in `npm test` (test/support/extent.ts). */
const LENGTHENED = [
  'e2e/backup/cli',
  'e2e/backup/schedules',
  'rest-catalog.int',
  'console/tables',
  'console/roles',
  'hostile-storage-tables',
  'hostile-auth-tables',
  'security/route-access',
  'security/credentials',
  'security/headers-and-paths',
  'large-and-hostile',
  'storage-kill',
  'storage-memory',
  'full-disk',
  'bench',
  'start-faults',
  'database-restart',
];
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
