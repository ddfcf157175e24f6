// `npm run release`: makes plinth-<version>.tgz, which runs without a registry: the build, the production dependencies as they
// are installed here, docs and examples for deployment. It is for the operating system and processor of this machine.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { cp, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { run } from './lib/run.mjs';
import { assertNodeVersion, isReady, ROOT, setUp } from './lib/set-up.mjs';

/** Files and folders of the repository that the release contains as they are. */
const CONTENTS = [
  'dist/src',
  'dist/migrations',
  'console/dist',
  'docs',
  'deploy',
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
  '.env.example',
];

/** What a copy of the repository needs for its build, in addition to CONTENTS. */
const SOURCES = [
  '.swcrc',
  'console',
  'migrations',
  'package-lock.json',
  'package.json',
  'scripts',
  'src',
  'test/snapshots',
  'tsconfig.build.json',
  'tsconfig.json',
];

const { values: options } = parseArgs({
  options: { out: { type: 'string', default: '.' }, level: { type: 'string', default: '9' } },
});

assertNodeVersion();
const temporary = path.join(ROOT, '.tmp', `release-${process.pid}`);
if (!isReady({ development: true, withConsole: true })) {
  await releaseFromCopy().finally(() => rm(temporary, { recursive: true, force: true }));
  process.exit();
}
await setUp({ development: true, console: true });
const manifest = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'));
const name = `plinth-${manifest.version}`;
const out = path.resolve(options.out);
const staging = temporary;
try {
  await stage(path.join(staging, name));
  const archive = path.join(out, `${name}.tgz`);
  await mkdir(out, { recursive: true });
  await pack(archive);
  const digest = await sha256(archive);
  await writeFile(`${archive}.sha256`, `${digest}  ${name}.tgz\n`);
  const { size } = await stat(archive);
  process.stdout.write(`${archive} (${Math.round(size / 1024 / 1024)} MiB)\n`);
} finally {
  await rm(staging, { recursive: true, force: true });
}

/** An installation or a build here would take files away from a server that runs from this folder. */
async function releaseFromCopy() {
  for (const item of [...CONTENTS.filter((name) => !/(^|\/)dist(\/|$)/.test(name)), ...SOURCES]) {
    const filter = (file) => !['node_modules', 'dist'].includes(path.basename(file));
    await cp(path.join(ROOT, item), path.join(temporary, item), { recursive: true, filter });
  }
  const script = path.join(temporary, 'scripts/release.mjs');
  const args = ['--out', path.resolve(options.out), '--level', options.level];
  // The copy has no commits.
  process.env.SOURCE_DATE_EPOCH ??= await commitTime();
  await run('The release', process.execPath, [script, ...args], { cwd: temporary, echo: true });
}

async function stage(folder) {
  await mkdir(folder, { recursive: true });
  for (const item of CONTENTS) {
    await cp(path.join(ROOT, item), path.join(folder, item), { recursive: true });
  }
  const lock = JSON.parse(await readFile(path.join(ROOT, 'node_modules/.package-lock.json'), 'utf8'));
  const production = Object.entries(lock.packages).filter(
    ([location, { dev }]) => !dev && !isOfBuild(location),
  );
  for (const [location] of production) await copyPackage(location, folder);
  await writeFile(path.join(folder, 'package.json'), `${JSON.stringify(releaseManifest(), null, 2)}\n`);
}

/** The compiler is a production dependency because `npm start` builds. */
function isOfBuild(location) {
  return location.startsWith('node_modules/@swc/');
}

/** Without nested packages, which have entries of their own. Symbolic links of the embedded PostgreSQL stay links. */
async function copyPackage(location, folder) {
  const source = path.join(ROOT, location);
  await cp(source, path.join(folder, location), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (file) => path.relative(source, file).split(path.sep)[0] !== 'node_modules',
  });
}

/** Scripts of the release install and build nothing. */
function releaseManifest() {
  const { version, description, license, engines } = manifest;
  const { '@swc/core': _, ...dependencies } = manifest.dependencies;
  return {
    name: manifest.name,
    version,
    description,
    license,
    private: true,
    engines,
    os: [process.platform],
    cpu: [process.arch],
    bin: { plinth: 'dist/src/cli.js' },
    scripts: {
      start: 'UV_THREADPOOL_SIZE=${UV_THREADPOOL_SIZE:-8} exec node --max-semi-space-size=4 dist/src/main.js',
      plinth: 'node dist/src/cli.js',
    },
    dependencies,
  };
}

/** Names in order, one owner and one time: the same sources and dependencies give the same archive. */
async function pack(archive) {
  const time = process.env.SOURCE_DATE_EPOCH ?? (await commitTime());
  const tar = ['-C', staging, '--sort=name', `--mtime=@${time}`, '--owner=0', '--group=0', '--numeric-owner'];
  const compress = `gzip -n -${Number(options.level)}`;
  const args = ['--use-compress-program', compress, ...tar, '--format=gnu', '-cf', archive, name];
  await run('tar (GNU tar is needed)', 'tar', args, { cwd: ROOT });
}

async function commitTime() {
  const output = await run('git log', 'git', ['log', '-1', '--format=%ct'], { cwd: ROOT }).catch(() => '0');
  return /^\d+/.exec(output)?.[0] ?? '0';
}

async function sha256(file) {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest('hex');
}
