/** Detects a full or nearly full disk. */
import { statfs } from 'node:fs/promises';
import { codeOf } from '../../common/errors/error-facts';
import { EmbeddedPostgresError } from './embedded-postgres.error';

/** PostgreSQL writes WAL in files of 16 MiB: with space for fewer than two of them, it may stop at any moment. */
export const MIN_FREE_BYTES = 32 * 1024 * 1024;

const MIB = 1024 * 1024;

/** PostgreSQL stopped because the disk is full; it can start again once there is space. */
export class DiskFullError extends EmbeddedPostgresError {}

/**
 * Bytes that an ordinary user may still write to the file system of `directory`; 0 when it can hold no more
 * files.
 */
export async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize, files, ffree } = await statfs(directory);
  // Some file systems (Btrfs) do not count files and report 0 of 0.
  return files > 0 && ffree === 0 ? 0 : bavail * bsize;
}

/** Settings of PostgreSQL by the size of the disk: its log takes a tenth, and the temporary files of a session a quarter. */
export async function diskSettings(directory: string): Promise<Record<string, string>> {
  const { blocks, bsize } = await statfs(directory);
  const share = (parts: number, least: number, most: number): string =>
    `${Math.floor(Math.min(most, Math.max(least, (blocks * bsize) / parts / MIB)))}MB`;
  return { max_wal_size: share(10, 96, 1_024), temp_file_limit: share(4, 64, 8_192) };
}

/** Returns the fault, as a DiskFullError if a full disk explains it. */
export async function asDiskFull(
  fault: EmbeddedPostgresError,
  dataDir: string,
): Promise<EmbeddedPostgresError> {
  const free = await freeBytes(dataDir).catch(() => Infinity);
  const isFull = free < MIN_FREE_BYTES || isDiskFull(fault);
  if (!isFull) return fault;
  const left = Number.isFinite(free) ? ` (${Math.floor(free / MIB)} MiB left)` : '';
  return new DiskFullError(`The disk that holds ${dataDir} is full${left}. ${fault.message}`, {
    cause: fault,
  });
}

function isDiskFull({ message, cause }: Error): boolean {
  const code = codeOf(cause);
  return (
    code === 'ENOSPC' || code === 'EDQUOT' || /No space left on device|Disk quota exceeded/.test(message)
  );
}
