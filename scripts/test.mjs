// `npm test`: installs and builds if necessary, then runs the checks in parallel, and then the tests.
// Stops after a failed check; a failed test stops neither its own stage nor the next. Arguments after `--` go to Jest. The last line is the number of tests.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { ProgramFailed, run } from './lib/run.mjs';
import { assertNodeVersion, bin, ROOT, setUp, setUpClients } from './lib/set-up.mjs';
import { keepTestFilesInMemory } from './lib/test-files.mjs';

const RESULTS = path.join(ROOT, '.tmp', 'test-results');
const JEST_ARGUMENTS = process.argv.slice(2);
/**
 * Optimizing code takes a seventh of the time of the tests, which run most of it a few times only. Later versions of Node.js do
 * not know the option.
 */
const OPTIMIZE_LESS = process.versions.node.startsWith('20.') ? ['--interrupt-budget=1000000'] : [];

/** Run in parallel. */
const CHECKS = [
  step('Lint and types', 'oxlint', 'bin/oxlint', []),
  step('Format', 'oxfmt', 'bin/oxfmt', ['--check', '.']),
  step('Dependency rules', 'dependency-cruiser', 'bin/dependency-cruise.mjs', [
    '--config',
    '.dependency-cruiser.cjs',
    'src',
  ]),
  step('Unused code', 'knip', 'bin/knip.js', []),
];

const totals = { passed: 0, failed: 0, skipped: 0 };

assertNodeVersion();
await setUp({ development: true, console: true });
try {
  await setUpClients({ all: false });
  await timed('Client of the console', () =>
    run('Client of the console', process.execPath, ['generate.mjs'], { cwd: path.join(ROOT, 'console') }),
  );
  await Promise.all(CHECKS.map((check) => check()));
  keepTestFilesInMemory();
  // Process tests run alone, after the tests that keep both cores busy.
  const first = await failureOf(jest('Unit, integration and e2e tests', 'unit', 'integration', 'e2e'));
  const second = await failureOf(jest('Process tests', 'process'));
  if (first ?? second) throw first ?? second;
} catch (error) {
  if (!(error instanceof ProgramFailed)) throw error;
  process.stdout.write(`${error.output}\n${error.message}\n`);
  totals.failed ||= 1;
  process.exitCode = 1;
}
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

/** Runs Jest on some of its projects and adds its result to the totals. */
async function jest(name, ...projects) {
  const resultFile = path.join(RESULTS, `${projects.join('-')}.json`);
  mkdirSync(RESULTS, { recursive: true });
  rmSync(resultFile, { force: true });
  // Patterns come first: --selectProjects takes every word that follows it.
  const program = [...OPTIMIZE_LESS, bin('jest', 'bin/jest.js')];
  const args = [...JEST_ARGUMENTS, '--passWithNoTests', '--json', `--outputFile=${resultFile}`];
  try {
    process.stdout.write(`${name} ...\n`);
    await timed(name, () =>
      run(name, process.execPath, [...program, ...args, '--selectProjects', ...projects], {
        cwd: ROOT,
        echo: true,
      }),
    );
  } finally {
    count(resultFile);
  }
}

/** A test file that cannot be loaded counts as one failed test, because Jest reports no tests for it. */
function count(resultFile) {
  const result = readResult(resultFile);
  totals.passed += result.numPassedTests ?? 0;
  totals.failed += (result.numFailedTests ?? 0) + (result.numRuntimeErrorTestSuites ?? 0);
  totals.skipped += (result.numPendingTests ?? 0) + (result.numTodoTests ?? 0);
}

function readResult(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {};
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
