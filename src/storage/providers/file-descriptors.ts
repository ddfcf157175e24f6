/**
 * The calls on open files that transfers make, on plain descriptors: a FileHandle costs more than a small file's bytes.
 * Whoever opens closes.
 */
import { close, closeSync, fsync, open, read, writev } from 'node:fs';
import { promisify } from 'node:util';

export const openFile: (path: string, flags: string | number, mode?: number) => Promise<number> =
  promisify(open);
export const syncFile = promisify(fsync);
export const closeFile = promisify(close);

/**
 * Closes at once: what was only read, or is synced, has nothing to wait for, and another thread would cost more. Not for
 * large files: one that was deleted meanwhile goes only now.
 */
export const closeNow = closeSync;

/** @returns bytes read, less than asked for at the end of the file */
export function readFrom(fd: number, buffer: Buffer, length: number, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(fd, buffer, 0, length, position, (error, bytesRead) => (error ? reject(error) : resolve(bytesRead)));
  });
}

/** @returns bytes written, maybe less than given */
export function writeTo(fd: number, chunks: readonly Buffer[]): Promise<number> {
  return new Promise((resolve, reject) => {
    writev(fd, chunks, (error, bytesWritten) => (error ? reject(error) : resolve(bytesWritten)));
  });
}
