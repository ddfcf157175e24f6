// `npm test`: installs and builds if necessary, then runs the checks in parallel, and then the tests.
// Stops after a failed check, but not after a failed test. A test file that fails is run once more alone. If it passes then, it is
// unstable: the run succeeds and names the file. Arguments after `--` go to Jest. The last line is the number of tests.
import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { ProgramFailed, run } from './lib/run.mjs';
import { assertNodeVersion, bin, ROOT, setUp } from './lib/set-up.mjs';
import { keepTestFilesInMemory } from './lib/test-files.mjs';
import { TestResults } from './lib/test-results.mjs';

const REPORTS = path.join(ROOT, '.tmp', 'test-results');
const PROJECTS = ['unit', 'integration', 'e2e', 'process'];
const JEST_ARGUMENTS = process.argv.slice(2);
/** With more failed files, the product is at fault, and no file is run again. */
const MAX_RERUNS = 12;
/**
 * Optimizing code takes a seventh of the time of the tests, which run most of it a few times only. Later versions of Node.js do
 * not know the option.
 */
const OPTIMIZE_LESS = process.versions.node.startsWith('20.') ? ['--interrupt-budget=1000000'] : [];
/** MiB for new objects: with V8's 16 at most, collecting them takes a tenth of the time. */
const COLLECT_LESS = ['--min-semi-space-size=16', '--max-semi-space-size=64'];

/** Run in parallel. */
const CHECKS = [
  step('Lint and types', 'oxlint', 'bin/oxlint', []),
  step('Format', 'oxfmt', 'bin/oxfmt', ['--check', '.']),
  step('Dependency rules', 'dependency-cruiser', 'bin/dependency-cruise.mjs', [
    '--config',
    '.dependency-cruiser.cjs',
    'src',
    'console/src',
  ]),
  step('Unused code', 'knip', 'bin/knip.js', []),
];

const results = new TestResults();

assertNodeVersion();
await setUp({ development: true, console: true, clients: true });
try {
  await timed('Client of the console', () =>
    run('Client of the console', process.execPath, ['generate.mjs'], { cwd: path.join(ROOT, 'console') }),
  );
  await Promise.all(CHECKS.map((check) => check()));
  keepTestFilesInMemory();
  const failure = await failureOf(jest('Unit, integration, e2e and process tests'));
  const unstable = await rerunFailedFiles();
  for (const file of unstable) process.stdout.write(`unstable: ${path.relative(ROOT, file)}\n`);
  // A run of Jest can fail without a failed file, for instance when it cannot start.
  const explained = unstable.length > 0 && results.failedFiles().length === 0;
  if (failure && !explained) throw failure;
} catch (error) {
  if (!(error instanceof ProgramFailed)) throw error;
  process.stdout.write(`${error.output}\n${error.message}\n`);
  process.exitCode = 1;
}
const totals = results.totals();
if (process.exitCode === 1) totals.failed ||= 1;
process.stdout.write(`${summary(totals)}\n`);
// Do not wait for a check that is still running.
if (process.exitCode === 1) process.exit();

/** A check by one program, whose output is shown only after a failure. */
function step(name, packageName, file, args) {
  return () =>
    timed(name, () => run(name, process.execPath, [bin(packageName, file), ...args], { cwd: ROOT }));
}

/** @returns the error that the work was rejected with, if any */
async function failureOf(work) {
  try {
    await work;
    return undefined;
  } catch (error) {
    return error;
  }
}

/**
 * Runs each failed test file once more, one after the other.
 * @returns {Promise<string[]>} the files that passed this time
 */
async function rerunFailedFiles() {
  const failed = results.failedFiles();
  if (failed.length > MAX_RERUNS) return [];
  for (const file of failed) await failureOf(jest(`Again: ${path.relative(ROOT, file)}`, file));
  const stillFailed = new Set(results.failedFiles());
  return failed.filter((file) => !stillFailed.has(file));
}

/**
 * Runs Jest and adds its report to the results.
 * @param {string} [file] run this test file only
 */
async function jest(name, file) {
  const report = path.join(REPORTS, 'jest.json');
  mkdirSync(REPORTS, { recursive: true });
  rmSync(report, { force: true });
  // Patterns come first: --selectProjects takes every word that follows it.
  const program = [...OPTIMIZE_LESS, ...COLLECT_LESS, bin('jest', 'bin/jest.js')];
  const which = file ? ['-i', '--runTestsByPath', file] : JEST_ARGUMENTS;
  const args = [...which, '--passWithNoTests', '--json', `--outputFile=${report}`];
  try {
    process.stdout.write(`${name} ...\n`);
    await timed(name, () =>
      run(name, process.execPath, [...program, ...args, '--selectProjects', ...PROJECTS], {
        cwd: ROOT,
        echo: true,
      }),
    );
  } finally {
    results.addReport(report);
  }
}

async function timed(name, work) {
  const since = Date.now();
  const seconds = () => `${((Date.now() - since) / 1000).toFixed(1)} s`;
  try {
    await work();
    process.stdout.write(`ok      ${name} (${seconds()})\n`);
  } catch (error) {
    process.stdout.write(`FAILED  ${name} (${seconds()})\n`);
    throw error;
  }
}

function summary({ passed, failed, skipped }) {
  return [`${passed} passed`, `${failed} failed`, ...(skipped > 0 ? [`${skipped} skipped`] : [])].join(', ');
}
