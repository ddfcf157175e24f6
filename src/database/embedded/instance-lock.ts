// Keeps a second instance off a data directory. Node has no flock(), so this is a lock file that names its holder.
import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../../common/errors/error-facts';
import { processSpace, processStartTime } from './process-identity';

/** Interval at which the holder touches the file, for processes that cannot find it by its pid. */
const HEARTBEAT_MS = 2_000;
/** After a longer time without a heartbeat the holder counts as dead. */
const SILENCE_MS = 3 * HEARTBEAT_MS;

/** The content of a lock file. The nonce is never reused: it identifies one acquisition. */
interface Holder {
  nonce: string;
  pid: number;
  startTime: string | null;
  space: string;
}

/** Another instance uses the data directory; the message is one clear line. */
export class DataDirInUseError extends Error {
  override readonly name = 'DataDirInUseError';

  constructor(dataDir: string, pid: number) {
    super(
      `Another instance of Plinth (process ${pid}) is using the data directory ${dataDir}: ` +
        'stop it first, or set DATA_DIR to another directory.',
    );
  }
}

/** The exclusive right to use a data directory. The lock of a dead process is taken over. */
export class InstanceLock {
  private constructor(
    private readonly file: string,
    private readonly nonce: string,
    private readonly heartbeat: NodeJS.Timeout,
  ) {}

  /**
   * Locks `dataDir` (an absolute path; created if missing) for this process. Rejects with DataDirInUseError
   * when a running process holds it, this one included. Takes about 6 s if the lock belongs to another
   * container or host: its process is not visible from here, so we wait for a heartbeat.
   */
  static async acquire(dataDir: string): Promise<InstanceLock> {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    const file = path.join(dataDir, 'instance.lock');
    const nonce = randomUUID();
    const own = `${file}.${nonce}.new`;
    const holder: Holder = {
      nonce,
      pid: process.pid,
      startTime: processStartTime(process.pid),
      space: processSpace(),
    };
    try {
      await writeFile(own, JSON.stringify(holder), { mode: 0o600 });
      await claim(own, file, dataDir);
    } finally {
      await rm(own, { force: true });
    }
    return new InstanceLock(file, nonce, beat(file));
  }

  /** Releases the data directory. */
  async release(): Promise<void> {
    clearInterval(this.heartbeat);
    if ((await holderOf(this.file))?.nonce === this.nonce) await rm(this.file, { force: true });
  }
}

/** Links the complete file `own` to `file`, unless a living process holds the lock. */
async function claim(own: string, file: string, dataDir: string): Promise<void> {
  while (!(await linkIfFree(own, file))) {
    const holder = await holderOf(file);
    if (holder === null) continue;
    if (await isAlive(holder, file)) throw new DataDirInUseError(dataDir, holder.pid);
    if (await replaceDead(holder, own, file, dataDir)) return;
  }
}

/** link() is atomic and fails if the name exists; unlike open(O_EXCL) it never shows a file without its content. */
async function linkIfFree(own: string, file: string): Promise<boolean> {
  try {
    await link(own, file);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Takes over a dead process's lock. Of several processes that try, only one may: the holder of a second
 * lock, named after the dead holder's nonce (and claimed in the same way). Otherwise a slow process could
 * remove the lock with which a faster process has just replaced the dead process's lock. Returns false if the lock has changed
 * hands during the wait.
 */
async function replaceDead(dead: Holder, own: string, file: string, dataDir: string): Promise<boolean> {
  const right = `${file}.${dead.nonce}`;
  const ticket = `${own}.ticket`;
  try {
    await writeFile(ticket, await readFile(own), { mode: 0o600 });
    await claim(ticket, right, dataDir);
    try {
      const current = await holderOf(file);
      if (current?.nonce !== dead.nonce) return false;
      await rename(ticket, file);
      return true;
    } finally {
      await rm(right, { force: true });
    }
  } finally {
    await rm(ticket, { force: true });
  }
}

/** Null when the file does not exist. An unreadable file (emptied by a power failure) yields a dead holder. */
async function holderOf(file: string): Promise<Holder | null> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  try {
    const holder = JSON.parse(text) as Holder;
    if (typeof holder.nonce === 'string' && Number.isInteger(holder.pid)) return holder;
  } catch {
    // Falls through to the dead holder.
  }
  return { nonce: 'unreadable', pid: 0, startTime: null, space: processSpace() };
}

async function isAlive(holder: Holder, file: string): Promise<boolean> {
  if (holder.space !== processSpace()) return hasHeartbeat(file);
  const startTime = holder.pid > 0 ? processStartTime(holder.pid) : null;
  return startTime !== null && startTime === holder.startTime;
}

/** Watches for a change instead of comparing the file's age: the clocks of hosts differ. */
async function hasHeartbeat(file: string): Promise<boolean> {
  const first = await modifiedAt(file);
  const deadline = Date.now() + SILENCE_MS;
  while (Date.now() < deadline) {
    await sleep(HEARTBEAT_MS / 10);
    const now = await modifiedAt(file);
    if (now !== first) return now !== null;
  }
  return false;
}

async function modifiedAt(file: string): Promise<number | null> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => null,
  );
}

function beat(file: string): NodeJS.Timeout {
  const touch = (): void => {
    const now = new Date();
    // The next beat makes up for a missed one.
    utimes(file, now, now).catch(() => undefined);
  };
  return setInterval(touch, HEARTBEAT_MS).unref();
}
