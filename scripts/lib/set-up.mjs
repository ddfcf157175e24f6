// Brings a clone into the state that its commands need: dependencies from the lock file, and a build of the sources.
// Plain Node without dependencies: it runs when nothing is installed yet.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { exclusively } from './exclusive.mjs';
import { ProgramFailed, run } from './run.mjs';

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

const LOCK = path.join(ROOT, '.tmp', 'set-up.lock');
const STAMP = path.join(ROOT, 'dist', '.built-from');
/** What the build depends on, besides the tests among them. */
const BUILD_INPUTS = [
  'src',
  'migrations',
  'nest-cli.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
];

/** How npm names a registry that it cannot reach: "npm error code ENOTFOUND". */
const NETWORK_FAILURE =
  /^npm (?:error|ERR!) code (ENOTFOUND|EAI_AGAIN|ECONN\w+|ENETUNREACH|EHOSTUNREACH|E?TIMEDOUT|ERR_SOCKET_\w+|E50[234])$/m;

/** Something that the user of this clone can mend; the message is one clear line. */
class SetUpError extends Error {}

/** Ends the process with one line unless this Node.js is one that package.json allows. */
export function assertNodeVersion() {
  const wanted = readJson('package.json').engines.node.replace('>=', '');
  const [major, minor] = wanted.split('.').map(Number);
  const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number);
  if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) return;
  console.error(`Plinth needs Node.js ${wanted} or later; this is ${process.versions.node}.`);
  process.exit(1);
}

/**
 * Installs and builds what is missing or out of date; ends the process when that fails, with the output of what failed.
 * @param {{ development?: boolean, quiet?: boolean }} options `development`: the tools are needed even if nothing has to
 *   be built; `quiet`: progress goes to a terminal only
 */
export async function setUp({ development = false, quiet = false } = {}) {
  const progress = quiet && !process.stderr.isTTY ? silent : report;
  try {
    if (isReady(development)) return;
    await exclusively(
      LOCK,
      (shareWith) => makeReady(development, progress, shareWith),
      () => progress('Waiting for another process that installs or builds here')(),
    );
  } catch (error) {
    if (error instanceof SetUpError) process.stderr.write(`${error.message}\n`);
    else if (error instanceof ProgramFailed) process.stderr.write(`\n${error.output}\n${error.message}\n`);
    else throw error;
    process.exit(1);
  }
}

function isReady(development) {
  return isBuilt() && isInstalled(development);
}

async function makeReady(development, progress, onStart) {
  const built = isBuilt();
  if (!isInstalled(development || !built)) await install(progress, onStart);
  if (!built) await compile(progress, onStart);
}

/**
 * npm writes what it has installed into node_modules as its last step, so this compares the two lock files.
 * Packages of other platforms may be missing; development packages too, where there is nothing to build.
 */
function isInstalled(withDevelopment) {
  const installed = readJson('node_modules/.package-lock.json')?.packages;
  if (!installed) return false;
  return Object.entries(readJson('package-lock.json').packages).every(
    ([location, { version, dev, optional, devOptional }]) => {
      if (location === '') return true;
      const found = installed[location];
      if (found) return found.version === version;
      return optional || devOptional || (dev && !withDevelopment);
    },
  );
}

async function install(progress, onStart) {
  const done = progress('Installing dependencies (first start, about a minute)');
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund'];
  try {
    await npm(args, onStart);
  } catch (error) {
    throw await unreachableRegistry(error);
  }
  done();
}

/** Under `npm start` this is the npm that runs us; it need not be the one in the path. */
function npm(args, onStart) {
  const own = process.env.npm_execpath;
  if (own?.endsWith('.js')) return run('npm ci', process.execPath, [own, ...args], { cwd: ROOT, onStart });
  return run('npm ci', 'npm', args, { cwd: ROOT, onStart });
}

/** A failure of the network as one line instead of npm's many; any other failure as it is. */
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
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === sourceHash();
}

/** The build begins by removing dist and with it the stamp, which comes back last: a killed build counts for nothing. */
async function compile(progress, onStart) {
  const done = progress('Building');
  const hash = sourceHash();
  await run('The build', process.execPath, [bin('@nestjs/cli', 'bin/nest.js'), 'build'], {
    cwd: ROOT,
    onStart,
  });
  writeFileSync(STAMP, hash);
  done();
}

/** By content rather than by time: a checkout or a copied image sets new times. */
function sourceHash() {
  const hash = createHash('sha256');
  for (const file of BUILD_INPUTS.flatMap((input) => filesIn(path.join(ROOT, input))).sort()) {
    if (file.endsWith('.spec.ts')) continue;
    hash
      .update(`${path.relative(ROOT, file)}\0`)
      .update(readFileSync(file))
      .update('\0');
  }
  return hash.digest('hex');
}

function filesIn(location) {
  if (path.extname(location) !== '') return [location];
  const entries = readdirSync(location, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name));
}

/** A program of an installed package. */
export function bin(packageName, file) {
  return path.join(ROOT, 'node_modules', packageName, file);
}

/** Announces a step; the returned function says how long it took. */
function report(step) {
  const since = Date.now();
  process.stderr.write(`${step} ...${process.stderr.isTTY ? '' : '\n'}`);
  return () => {
    if (process.stderr.isTTY) process.stderr.write(` ${Math.round((Date.now() - since) / 1000)} s\n`);
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
