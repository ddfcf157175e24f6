/**
 * A mark in the data directory while a backup is restored into it. Plinth does not start with it, and the next restore removes
 * what the interrupted restore left. A restore is therefore complete or absent, whenever it is interrupted.
 */
import { open, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { endLeftovers } from '../../database/embedded/leftover-processes';

const MARK = 'restore-unfinished';
/** Does not count as content: a new file system has it. */
const FOREIGN = 'lost+found';
const LOCK = /^instance\.lock/;

/** A data directory cannot be used. The message is one clear line. */
class RestoreDirectoryError extends Error {
  override readonly name = 'RestoreDirectoryError';
}

/** @throws RestoreDirectoryError when a restore was interrupted */
export async function assertNoUnfinishedRestore(dataDir: string): Promise<void> {
  const names = await readdir(dataDir).catch((): string[] => []);
  if (!names.includes(MARK)) return;
  throw new RestoreDirectoryError(
    `A restore into ${dataDir} was interrupted: run plinth restore again, or empty the directory.`,
  );
}

/**
 * Runs `work` on an empty data directory. If it fails, the directory is empty again.
 * @param dataDir locked by this process
 * @throws RestoreDirectoryError when the directory has content
 */
export async function intoEmptyDirectory<T>(dataDir: string, work: () => Promise<T>): Promise<T> {
  const mark = path.join(dataDir, MARK);
  const names = await contentOf(dataDir);
  if (names.length > 0 && !names.includes(MARK)) {
    throw new RestoreDirectoryError(
      `${dataDir} is not empty: set DATA_DIR to a new directory, or move its content elsewhere`,
    );
  }
  await writeFile(mark, '', { mode: 0o600, flush: true });
  await syncDirectory(dataDir);
  // The PostgreSQL of an interrupted recovery may not have ended yet.
  await endLeftovers(path.join(dataDir, 'postgres'), () => undefined);
  await clear(dataDir);
  try {
    const result = await work();
    await syncDirectory(dataDir);
    await rm(mark);
    await syncDirectory(dataDir);
    return result;
  } catch (error) {
    await clear(dataDir);
    await rm(mark);
    throw error;
  }
}

async function contentOf(dataDir: string): Promise<string[]> {
  return (await readdir(dataDir)).filter((name) => name !== FOREIGN && !LOCK.test(name));
}

/** Removes everything but the mark. */
async function clear(dataDir: string): Promise<void> {
  const options = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 };
  for (const name of await contentOf(dataDir)) if (name !== MARK) await rm(path.join(dataDir, name), options);
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
