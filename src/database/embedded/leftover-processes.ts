// Ends processes that an earlier PostgreSQL left on a cluster directory, before a new PostgreSQL starts there.
import { execFile } from 'node:child_process';
import { readdir, readFile, readlink, realpath, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { codeOf } from '../../common/errors/error-facts';
import { EmbeddedPostgresError } from './embedded-postgres.error';
import { processStartTime } from './process-identity';

const run = promisify(execFile);

const POLL_MS = 20;
const GIVE_UP_AFTER_MS = 75_000;

interface Leftovers {
  /** Null when the postmaster has ended and only its child processes run. */
  postmaster: number | null;
  all: number[];
}

interface Step {
  afterMs: number;
  signal: NodeJS.Signals;
}

/** Only a postmaster may be sent SIGINT: its children treat it as a request to cancel their statement. */
const FOR_A_POSTMASTER: readonly Step[] = [
  // The watcher of a killed parent has already asked for a fast shutdown, which takes as long as a checkpoint.
  { afterMs: 2_000, signal: 'SIGINT' },
  // Immediate shutdown: nothing is lost, but the next start has to recover.
  { afterMs: 60_000, signal: 'SIGQUIT' },
];
/** Most children notice that the postmaster died, and exit. One that is busy computing or hangs does not. */
const FOR_ORPHANS: readonly Step[] = [
  { afterMs: 0, signal: 'SIGQUIT' },
  { afterMs: 1_000, signal: 'SIGKILL' },
];

/**
 * Waits until no process of an earlier PostgreSQL works in the directory, and signals it to stop if necessary. Then
 * removes stale sockets, and a lock file that PostgreSQL would take for a running postmaster's.
 * Throws EmbeddedPostgresError when a process does not end.
 */
export async function endLeftovers(clusterDir: string, onProgress: (message: string) => void): Promise<void> {
  const since = Date.now();
  const sent = new Set<Step>();
  for (let left = await leftovers(clusterDir); left.all.length > 0; left = await leftovers(clusterDir)) {
    const waited = Date.now() - since;
    const steps = left.postmaster === null ? FOR_ORPHANS : FOR_A_POSTMASTER;
    for (const step of steps.filter((one) => waited >= one.afterMs && !sent.has(one))) {
      if (step === FOR_A_POSTMASTER[0])
        onProgress('Waiting for the PostgreSQL of an earlier run to stop ...');
      sent.add(step);
      const targets = left.postmaster === null ? left.all : [left.postmaster];
      targets.forEach((pid) => signalQuietly(pid, step.signal));
    }
    if (waited >= GIVE_UP_AFTER_MS) throw stillRunning(left);
    await sleep(POLL_MS);
  }
  await removeMisleadingLockFile(clusterDir);
  await removeSockets(clusterDir);
}

function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended by itself.
  }
}

async function leftovers(clusterDir: string): Promise<Leftovers> {
  const written = await lockFilePid(clusterDir);
  const all =
    process.platform === 'linux' ? await postgresIn(clusterDir) : await postmasterByPs(clusterDir, written);
  return { postmaster: written !== null && all.includes(written) ? written : null, all };
}

/** Every PostgreSQL process keeps its cluster directory as its working directory. */
async function postgresIn(clusterDir: string): Promise<number[]> {
  const directory = await realpath(clusterDir).catch(() => null);
  if (directory === null) return [];
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const matches = await Promise.all(pids.map((pid) => isPostgresIn(pid, directory)));
  return pids.filter((_, index) => matches[index]);
}

async function isPostgresIn(pid: number, directory: string): Promise<boolean> {
  try {
    if ((await readFile(`/proc/${pid}/comm`, 'utf8')).trim() !== 'postgres') return false;
    return (await readlink(`/proc/${pid}/cwd`)) === directory;
  } catch {
    // The process has ended, or belongs to another user and so is not ours.
    return false;
  }
}

async function postmasterByPs(clusterDir: string, pid: number | null): Promise<number[]> {
  if (pid === null || processStartTime(pid) === null) return [];
  const { stdout } = await run('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return stdout.includes(`-D ${clusterDir}`) ? [pid] : [];
}

async function lockFilePid(clusterDir: string): Promise<number | null> {
  const text = await readFile(lockFile(clusterDir), 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  return pid > 0 ? pid : null;
}

/**
 * Called when no process of the cluster runs any more. PostgreSQL refuses an empty lock file, which a full disk
 * leaves, and regards any running pid as a postmaster. By now that pid belongs to another process, or to a
 * zombie that its new parent does not reap (Node as a container's first process). Any other file stays:
 * PostgreSQL itself checks that the shared memory named in it is unused.
 */
async function removeMisleadingLockFile(clusterDir: string): Promise<void> {
  const pid = await lockFilePid(clusterDir);
  if (pid === null || isInUse(pid)) await rm(lockFile(clusterDir), { force: true });
}

/** Each socket has a lock file. A killed postmaster leaves both files, and the next postmaster may use another port. */
async function removeSockets(clusterDir: string): Promise<void> {
  const names = await readdir(clusterDir).catch(() => []);
  const sockets = names.filter((name) => name.startsWith('.s.PGSQL.'));
  await Promise.all(sockets.map((name) => rm(path.join(clusterDir, name), { force: true })));
}

function isInUse(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

function lockFile(clusterDir: string): string {
  return path.join(clusterDir, 'postmaster.pid');
}

function stillRunning(left: Leftovers): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `The PostgreSQL of an earlier run does not stop (${left.all.join(', ')}): end these processes first.`,
  );
}
