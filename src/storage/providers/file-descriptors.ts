/**
 * Promise-based calls on plain file descriptors: a FileHandle costs more than reading or writing a small file. The caller of
 * openFile() has to close the descriptor.
 */
import { close, closeSync, fstat, fsync, ftruncate, open, read, writev } from 'node:fs';
import { promisify } from 'node:util';

export const openFile: (path: string, flags: string | number, mode?: number) => Promise<number> =
  promisify(open);
export const syncFile = promisify(fsync);
export const closeFile = promisify(close);

/**
 * Closes synchronously: close() does not block for a file that was only read or is synced, and a call through the
 * thread pool would cost more. Not for large files: if one was deleted in the meantime, close() frees its blocks.
 */
export const closeNow = closeSync;

/** Truncates the file to `size` bytes. @returns false if the file has fewer bytes */
export async function cutFile(fd: number, size: number): Promise<boolean> {
  const facts = await promisify(fstat)(fd);
  if (facts.size > size) await promisify(ftruncate)(fd, size);
  return facts.size >= size;
}

/** @returns the number of bytes read, fewer than `length` at the end of the file */
export function readFrom(fd: number, buffer: Buffer, length: number, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(fd, buffer, 0, length, position, (error, bytesRead) => (error ? reject(error) : resolve(bytesRead)));
  });
}

/** @returns the number of bytes written, possibly fewer than given */
function writeTo(fd: number, chunks: readonly Buffer[]): Promise<number> {
  return new Promise((resolve, reject) => {
    writev(fd, chunks, (error, bytesWritten) => (error ? reject(error) : resolve(bytesWritten)));
  });
}

/** Maximum bytes that wait in the queue. */
export const MAX_WAITING = 512 * 1024;

/**
 * Number of bytes after which a growing object is synced while more bytes arrive, so that the sync before the
 * response has little to write.
 */
export const EARLY_SYNC = 2 * 1024 * 1024;
/** The same for a large upload in one request. */
export const LARGE_EARLY_SYNC = 8 * 1024 * 1024;
/** Maximum number of early syncs at a time: each holds one of the threads that also serve reads. */
const MAX_EARLY_SYNCS = 2;
let earlySyncs = 0;

/** Least number of bytes that are written before the end: handing a write to another thread costs as much as writing 64 KiB. */
const BATCH = 256 * 1024;

/** Writes chunks to a file while the next ones arrive: one writev() at a time, with a bounded queue. */
export class ChunkWriter {
  private waiting: Buffer[] = [];
  private waitingBytes = 0;
  private unsynced = 0;
  private syncing: Promise<void> | null = null;
  private writing: Promise<void> | null = null;
  private failure: { readonly reason: unknown } | null = null;

  /** @param syncAfter number of bytes after which a sync begins while more bytes arrive */
  constructor(
    private readonly fd: number,
    private readonly syncAfter = Infinity,
  ) {}

  /** Resolves when the queue has room. @throws the file system's error, possibly of an earlier chunk */
  async write(chunk: Buffer): Promise<void> {
    this.waiting.push(chunk);
    this.waitingBytes += chunk.length;
    if (!this.writing) {
      if (this.waitingBytes >= BATCH) this.start();
    } else if (this.waitingBytes >= MAX_WAITING) await this.writing;
    if (this.failure) throw this.failure.reason;
  }

  /** Resolves when everything is written and no sync is running. */
  async end(): Promise<void> {
    if (!this.writing && this.waitingBytes > 0) this.start();
    while (this.writing) await this.writing;
    await this.syncing;
    if (this.failure) throw this.failure.reason;
  }

  /**
   * Makes the written bytes durable.
   * @throws also the error of an earlier or concurrent sync: the system reports an error only once
   */
  async sync(): Promise<void> {
    await syncFile(this.fd);
    await this.syncing;
    if (this.failure) throw this.failure.reason;
  }

  private start(): void {
    this.writing = this.drain().then(() => {
      this.writing = null;
    });
  }

  private async drain(): Promise<void> {
    try {
      while (this.waiting.length > 0) {
        const chunks = this.waiting;
        this.unsynced += this.waitingBytes;
        this.waiting = [];
        this.waitingBytes = 0;
        await writeAll(this.fd, chunks);
        if (this.unsynced >= this.syncAfter && !this.syncing && earlySyncs < MAX_EARLY_SYNCS)
          this.startSync();
      }
    } catch (error) {
      this.failure = { reason: error };
    }
  }

  private startSync(): void {
    this.unsynced = 0;
    earlySyncs += 1;
    this.syncing = syncFile(this.fd)
      .catch((error: unknown) => void (this.failure = { reason: error }))
      .then(() => {
        earlySyncs -= 1;
        this.syncing = null;
      });
  }
}

/** Repeats writev(), which may write less than it was given. */
export async function writeAll(fd: number, chunks: Buffer[]): Promise<void> {
  let rest = chunks;
  while (rest.length > 0) {
    let bytesWritten = await writeTo(fd, rest);
    const index = rest.findIndex((chunk) => {
      if (bytesWritten < chunk.length) return true;
      bytesWritten -= chunk.length;
      return false;
    });
    const [partial, ...later] = index < 0 ? [] : rest.slice(index);
    if (!partial) return;
    rest = [partial.subarray(bytesWritten), ...later];
  }
}
