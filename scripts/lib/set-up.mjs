// Brings a clone into the state that its commands need: dependencies from the lock file, and a build of the sources.
// No dependencies, because it runs before the installation.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { exclusively } from './exclusive.mjs';
import { ProgramFailed, run } from './run.mjs';

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

const LOCK = path.join(ROOT, '.tmp', 'set-up.lock');
/** Workspaces of their own: the generators of clients, and applications that are built on generated clients. */
const CLIENTS = 'clients';
const EXAMPLES = ['chat', 'csv-import', 'photo-gallery', 'team-notes', 'todo-app'].map(
  (name) => `examples/${name}`,
);
const PACKAGES_OF = {
  '.': 'dependencies (first start, half a minute)',
  clients: 'generators of clients',
  console: 'packages of the console',
};
const STAMP = path.join(ROOT, 'dist', '.built-from');
/** The workspace of the console. */
const CONSOLE = 'console';
const CONSOLE_STAMP = path.join(ROOT, CONSOLE, 'dist', '.built-from');
/** Files that the build makes itself. */
const GENERATED = path.join(CONSOLE, 'src/generated');
/** The document is an input, because the console's client and forms are made of it. */
const CONSOLE_INPUTS = [
  'console/src',
  'console/build.mjs',
  'console/mantine-styles.mjs',
  'console/index.html',
  'console/pages',
  'console/pages.mjs',
  'console/package-lock.json',
  'console/vite.config.ts',
  'docs',
  'test/snapshots/openapi/platform.yaml',
];
/** Inputs of the build; the tests among them are ignored. */
const BUILD_INPUTS = ['src', 'migrations', '.swcrc', 'package-lock.json', 'scripts/compile.mjs'];

/** npm's message for an unreachable registry: "npm error code ENOTFOUND". */
const NETWORK_FAILURE =
  /^npm (?:error|ERR!) code (ENOTFOUND|EAI_AGAIN|ECONN\w+|ENETUNREACH|EHOSTUNREACH|E?TIMEDOUT|ERR_SOCKET_\w+|E50[234])$/m;

/** An error that the user of this clone can correct; the message is one line. */
class SetUpError extends Error {}

/** Exits with a one-line message if package.json does not allow this Node.js version. */
export function assertNodeVersion() {
  const wanted = readJson('package.json').engines.node.replace('>=', '');
  const [major, minor] = wanted.split('.').map(Number);
  const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number);
  if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) return;
  console.error(`Plinth needs Node.js ${wanted} or later; this is ${process.versions.node}.`);
  process.exit(1);
}

/**
 * Installs and builds if necessary. After a failure prints the output of the failed program and exits.
 * @param {{ development?: boolean, quiet?: boolean, console?: boolean, clients?: boolean }} options `development`: also installs
 *   the development tools; `quiet`: shows progress on a terminal only; `console`: also builds the console; `clients`: also
 *   installs the generators of clients that `npm test` uses
 */
export async function setUp({ quiet = false, console: withConsole = false, ...given } = {}) {
  const progress = quiet && !process.stderr.isTTY ? silent : report;
  const options = { development: false, clients: false, withConsole, ...given };
  try {
    if (isReady(options)) return;
    await exclusively(
      LOCK,
      (shareWith) => makeReady(options, progress, shareWith),
      () => progress('Waiting for another process that installs or builds here')(),
    );
  } catch (error) {
    if (error instanceof SetUpError) process.stderr.write(`${error.message}\n`);
    else if (error instanceof ProgramFailed) process.stderr.write(`\n${error.output}\n${error.message}\n`);
    else throw error;
    process.exit(1);
  }
}

/** Installs all generators of clients, and the packages of the examples, if necessary: for `npm run clients`. */
export async function setUpClients() {
  for (const folder of [CLIENTS, ...EXAMPLES]) await setUpWorkspace(folder);
}

async function setUpWorkspace(folder) {
  if (isInstalled(true, folder)) return;
  await exclusively(
    LOCK,
    async (shareWith) => {
      if (!isInstalled(true, folder)) await install(report, shareWith, { folder });
    },
    () => report('Waiting for another process that installs or builds here')(),
  );
}

/** Whether setUp() would change nothing. */
export function isReady({ development, withConsole, clients = false }) {
  if (clients && !isInstalled(false, CLIENTS)) return false;
  if (withConsole && !(isConsoleBuilt() && (!development || isInstalled(true, CONSOLE)))) return false;
  return isBuilt() && isInstalled(development);
}

/** Each step uses one core, so those after the installation run in parallel. */
async function makeReady({ development, withConsole, clients }, progress, onStart) {
  const built = isBuilt();
  if (!isInstalled(development)) await install(progress, onStart, { all: development });
  const steps = [];
  if (!built) steps.push(compile(progress, onStart));
  if (withConsole) steps.push(makeConsoleReady(development, progress, onStart));
  if (clients && !isInstalled(false, CLIENTS))
    steps.push(install(progress, onStart, { folder: CLIENTS, all: false }));
  await Promise.all(steps);
}

/** Plinth serves without the console too: unless the tests need it, a failure here is only reported. */
async function makeConsoleReady(development, progress, onStart) {
  const built = isConsoleBuilt();
  try {
    if ((development || !built) && !isInstalled(true, CONSOLE))
      await install(progress, onStart, { folder: CONSOLE });
    if (!built) await buildConsole(progress, onStart);
  } catch (error) {
    if (development) throw error;
    process.stderr.write(`The console was not built, and Plinth starts without it. ${error.message}\n`);
  }
}

/**
 * npm writes a lock file into node_modules as its last step, so this compares the two lock files.
 * Packages of other platforms may be missing.
 */
function isInstalled(withDevelopment, folder = '.') {
  const installed = readJson(path.join(folder, 'node_modules/.package-lock.json'))?.packages;
  if (!installed) return false;
  return Object.entries(readJson(path.join(folder, 'package-lock.json')).packages).every(
    ([location, { version, dev, optional, devOptional }]) => {
      if (location === '') return true;
      const found = installed[location];
      if (found) return found.version === version;
      return optional || devOptional || (dev && !withDevelopment);
    },
  );
}

async function install(progress, onStart, { folder = '.', all = true } = {}) {
  const done = progress(`Installing ${PACKAGES_OF[folder] ?? 'packages of an example'}`);
  const args = ['ci', all ? '--include=dev' : '--omit=dev', '--no-audit', '--no-fund'];
  try {
    await npm(args, onStart, path.join(ROOT, folder));
  } catch (error) {
    throw await unreachableRegistry(error);
  }
  done();
}

/** Under `npm start`, uses the npm that runs this process, which may differ from the one on PATH. */
function npm(args, onStart, cwd = ROOT) {
  const own = process.env.npm_execpath;
  if (own?.endsWith('.js')) return run('npm ci', process.execPath, [own, ...args], { cwd, onStart });
  return run('npm ci', 'npm', args, { cwd, onStart });
}

/** Replaces npm's output after a network failure by one line; returns other errors unchanged. */
async function unreachableRegistry(error) {
  const [, code] = (error instanceof ProgramFailed && NETWORK_FAILURE.exec(error.output)) || [];
  if (!code) return error;
  const registry = (await npm(['config', 'get', 'registry']).catch(() => 'the registry')).trim();
  return new SetUpError(
    `The dependencies cannot be installed: ${registry} cannot be reached (${code}). Connect this machine to it, ` +
      'or set another registry or a proxy: npm config set registry URL, npm config set proxy URL.',
  );
}

function isBuilt() {
  return isBuiltFrom(STAMP, BUILD_INPUTS);
}

function isConsoleBuilt() {
  return isBuiltFrom(CONSOLE_STAMP, CONSOLE_INPUTS);
}

function isBuiltFrom(stamp, inputs) {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === sourceHash(inputs);
}

/** The build first removes dist with the stamp. The stamp is written last, so an interrupted build is repeated. */
async function compile(progress, onStart) {
  const done = progress('Building');
  const hash = sourceHash(BUILD_INPUTS);
  await run('The build', process.execPath, [path.join(ROOT, 'scripts/compile.mjs')], { cwd: ROOT, onStart });
  writeFileSync(STAMP, hash);
  done();
}

/** As in compile(), the build removes the stamp first. */
async function buildConsole(progress, onStart) {
  const done = progress('Building the console');
  const hash = sourceHash(CONSOLE_INPUTS);
  const folder = path.join(ROOT, CONSOLE);
  await run('The build of the console', process.execPath, ['build.mjs'], { cwd: folder, onStart });
  writeFileSync(CONSOLE_STAMP, hash);
  done();
}

/** Hashes contents, because a checkout or a copied image changes modification times. */
function sourceHash(inputs) {
  const hash = createHash('sha256');
  for (const file of inputs.flatMap((input) => filesIn(path.join(ROOT, input))).sort()) {
    if (file.endsWith('.spec.ts') || file.includes(GENERATED)) continue;
    hash
      .update(`${path.relative(ROOT, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex');
}

function filesIn(location) {
  if (statSync(location).isFile()) return [location];
  const entries = readdirSync(location, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name));
}

/** A program of an installed package. */
export function bin(packageName, file) {
  return path.join(ROOT, 'node_modules', packageName, file);
}

/** Prints the start of a step; the returned function prints its duration. */
function report(step) {
  const since = Date.now();
  process.stderr.write(`${step} ...\n`);
  return () => {
    if (process.stderr.isTTY) process.stderr.write(`${step}: ${Math.round((Date.now() - since) / 1000)} s\n`);
  };
}

function silent() {
  return () => undefined;
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(path.join(ROOT, file), 'utf8'));
  } catch {
    return undefined;
  }
}
