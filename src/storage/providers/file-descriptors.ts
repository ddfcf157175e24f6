/**
 * Promise-based calls on plain file descriptors: a FileHandle costs more than reading or writing a small file. The caller of
 * openFile() has to close the descriptor.
 */
import { close, closeSync, fsync, open, read, writev } from 'node:fs';
import { promisify } from 'node:util';

export const openFile: (path: string, flags: string | number, mode?: number) => Promise<number> =
  promisify(open);
export const syncFile = promisify(fsync);
export const closeFile = promisify(close);

/**
 * Closes synchronously: close() does not block for a file that was only read, or is synced, and a thread would cost more. Not for
 * large files: if one was deleted meanwhile, close() frees its blocks.
 */
export const closeNow = closeSync;

/** @returns bytes read, less than asked for at the end of the file */
export function readFrom(fd: number, buffer: Buffer, length: number, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(fd, buffer, 0, length, position, (error, bytesRead) => (error ? reject(error) : resolve(bytesRead)));
  });
}

/** @returns bytes written, possibly fewer than given */
export function writeTo(fd: number, chunks: readonly Buffer[]): Promise<number> {
  return new Promise((resolve, reject) => {
    writev(fd, chunks, (error, bytesWritten) => (error ? reject(error) : resolve(bytesWritten)));
  });
}
