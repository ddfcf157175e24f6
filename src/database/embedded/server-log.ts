// The file that PostgreSQL writes to: <data directory>/postgres.log. A file, not a pipe, so that a busy or killed Node
// can neither stall PostgreSQL nor lose its last words.
import { type FileHandle, open, readFile, rename, stat } from 'node:fs/promises';
import path from 'node:path';

/** Beyond this the file of earlier runs is put aside at start; there is one such older file at most. */
const ROTATE_AT_BYTES = 10 * 1024 * 1024;

const FAULT = /^.*?(?:FATAL|PANIC|initdb: error):\s*/;
/** By log_line_prefix: what clients were told, such as that the server is starting. */
const TOLD_A_CLIENT = /\] (?:dead-end )?client backend /;

export class ServerLog {
  private constructor(
    readonly file: string,
    private readonly handle: FileHandle,
    private readonly startOffset: number,
  ) {}

  static async open(dataDir: string): Promise<ServerLog> {
    const file = path.join(dataDir, 'postgres.log');
    if ((await sizeOf(file)) > ROTATE_AT_BYTES) await rename(file, `${file}.1`);
    const handle = await open(file, 'a', 0o600);
    return new ServerLog(file, handle, await sizeOf(file));
  }

  /** Descriptor for the program to write to. */
  get fd(): number {
    return this.handle.fd;
  }

  /** The fault that PostgreSQL gave since this log was opened, in one line; else its last line. */
  async lastFault(): Promise<string> {
    const written = (await readFile(this.file)).subarray(this.startOffset).toString('utf8');
    const lines = written.split('\n').filter((line) => line.trim() !== '' && !TOLD_A_CLIENT.test(line));
    const fault = lines.findLast((line) => FAULT.test(line)) ?? lines.at(-1) ?? 'it said nothing';
    return fault.replace(FAULT, '').trim();
  }

  close(): Promise<void> {
    return this.handle.close();
  }
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}
