// PostgreSQL's log file, <data directory>/postgres.log. A file, not a pipe, so that a busy or killed Node process can
// neither stall PostgreSQL nor lose its last messages.
import { copyFile, type FileHandle, open, readFile, rename, stat, truncate } from 'node:fs/promises';
import path from 'node:path';

/** A larger log becomes postgres.log.1, replacing the previous one. */
const ROTATE_AT_BYTES = 10 * 1024 * 1024;

const FAULT = /^.*?(?:FATAL|PANIC|initdb: error):\s*/;
/** Lines of client backends (by log_line_prefix): refusals such as "the database system is starting up". */
const CLIENT_BACKEND = /\] (?:dead-end )?client backend /;

export class ServerLog {
  private constructor(
    readonly file: string,
    private readonly handle: FileHandle,
    private readonly startOffset: number,
  ) {}

  static async open(dataDir: string): Promise<ServerLog> {
    const file = path.join(dataDir, 'postgres.log');
    if ((await sizeOf(file)) > ROTATE_AT_BYTES) await rename(file, previous(file));
    const handle = await open(file, 'a', 0o600);
    return new ServerLog(file, handle, await sizeOf(file));
  }

  /**
   * Copies a large log and empties it, because the running PostgreSQL continues to append to the file that it has open. Messages
   * of the milliseconds between the two are lost.
   */
  static async rotate(file: string): Promise<void> {
    if ((await sizeOf(file)) <= ROTATE_AT_BYTES) return;
    await copyFile(file, previous(file));
    await truncate(file);
  }

  /** Descriptor for the program to write to. */
  get fd(): number {
    return this.handle.fd;
  }

  /** The last error that PostgreSQL logged since this log was opened, in one line; else its last line. */
  async lastFault(): Promise<string> {
    const written = (await readFile(this.file)).subarray(this.startOffset).toString('utf8');
    const lines = written.split('\n').filter((line) => line.trim() !== '' && !CLIENT_BACKEND.test(line));
    const fault = lines.findLast((line) => FAULT.test(line)) ?? lines.at(-1) ?? 'it logged nothing';
    return fault.replace(FAULT, '').trim();
  }

  close(): Promise<void> {
    return this.handle.close();
  }
}

const previous = (file: string): string => `${file}.1`;

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}
