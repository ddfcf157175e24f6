// Starts, watches and ends processes for tests.
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processStartTime } from '../../../src/database/embedded/process-identity';

export const ROOT = path.resolve(__dirname, '../../..');

const POLL_MS = 25;
/** As in test/support/eventually.ts. */
const POLL_SHARE = 0.15;
const MAX_POLL_MS = 250;

export interface ProgramOptions {
  env?: NodeJS.ProcessEnv;
  detached?: boolean;
  /** Working directory; default: the clone. */
  cwd?: string;
}

/** A program under test and its output so far. */
export class Program {
  output = '';
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;

  private constructor(readonly child: ChildProcess) {
    child.stdout?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.exited = new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
  }

  /** `detached` starts it in a new process group, as a terminal does. */
  static start(command: string, args: string[], options: ProgramOptions = {}): Program {
    const { env = process.env, detached = false, cwd = ROOT } = options;
    return new Program(spawn(command, args, { env, detached, cwd, stdio: ['pipe', 'pipe', 'pipe'] }));
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error('the program did not start');
    return this.child.pid;
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Resolves with the first match in the output; rejects if the program ends before. */
  async says(pattern: RegExp, limitMs = 60_000): Promise<RegExpMatchArray> {
    await until(
      () => pattern.test(this.output) || !this.isRunning,
      limitMs,
      () => this.output,
    );
    const match = this.output.match(pattern);
    if (!match) throw new Error(`ended without saying ${String(pattern)}:\n${this.output}`);
    return match;
  }

  /** Ends the program if it still runs. */
  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.isRunning) this.child.kill(signal);
    await this.exited;
  }
}

/** Polls a condition; rejects after the limit with the text of `describe`. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  limitMs = 60_000,
  describe: () => string = () => '',
): Promise<void> {
  const began = Date.now();
  while (!(await condition())) {
    const waited = Date.now() - began;
    if (waited > limitMs) throw new Error(`not so within ${limitMs} ms. ${describe()}`);
    await sleep(Math.min(MAX_POLL_MS, Math.max(POLL_MS, waited * POLL_SHARE)));
  }
}

export function isAlive(pid: number): boolean {
  return processStartTime(pid) !== null;
}

/** Processes whose command line holds the text, such as a port setting. Linux only. */
export function processesWith(text: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => pid !== process.pid && commandLine(pid).includes(text));
}

/** Empty if the process has ended. */
export function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

/** Runs `work` with a temporary directory, which is removed afterwards. */
export async function withDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), 'plinth-process-'));
  try {
    await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}
