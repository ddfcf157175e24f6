/** The file in the data directory that says where the running server listens, for the command line on this machine. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../common/errors/error-facts';
import { isJsonObject, parseJson } from '../common/text/json';
import { readSecret, writeSecret } from './secret-file';

export interface RunningServer {
  readonly pid: number;
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string;
}

const fileIn = (dataDir: string): string => join(dataDir, 'server.json');

/** Called once the server listens. */
export function recordRunningServer(dataDir: string, server: Omit<RunningServer, 'pid'>): void {
  writeSecret(fileIn(dataDir), JSON.stringify({ pid: process.pid, ...server }));
}

/** Leaves the file of another process. */
export function forgetRunningServer(dataDir: string): void {
  if (readFile(dataDir)?.pid === process.pid) rmSync(fileIn(dataDir), { force: true });
}

/** Null if no server runs, or if it was killed and left the file. */
export function findRunningServer(dataDir: string): RunningServer | null {
  const server = readFile(dataDir);
  return server && isAlive(server.pid) ? server : null;
}

function readFile(dataDir: string): RunningServer | null {
  try {
    const server = parseJson(readSecret(fileIn(dataDir)) ?? '');
    return isRunningServer(server) ? server : null;
  } catch {
    // DATA_DIR is a file, or belongs to somebody else.
    return null;
  }
}

function isRunningServer(value: unknown): value is RunningServer {
  if (!isJsonObject(value)) return false;
  const texts = [value.host, value.publicUrl].every((one) => typeof one === 'string');
  return texts && Number.isInteger(value.pid) && Number.isInteger(value.port);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
