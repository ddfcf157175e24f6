/** Runs the built Plinth as a separate process with its embedded PostgreSQL, for tests that kill it. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Tuning } from '../../src/config/tuning';
import { provideDocument } from './documented/exchange-check';
import { HttpClient } from './http-client';

const BUILD = join(__dirname, '../../dist');
const COMPILE_CACHE = join(__dirname, 'compile-cache.cjs');
const TUNE = join(__dirname, 'tune.cjs');
/** Milliseconds after which a start is considered hung. On a busy machine a start can take minutes. */
const START_LIMIT_MS = 300_000;
/** Ports below 32768, from which Linux assigns ports to other sockets. Browsers and fetch() refuse some ports below 11000. */
const FIRST_PORT = 11_000;
const PORT_SHARES = 8;
const PORTS_OF_SHARE = 2_700;
/** Ports given out in this test file, on which nothing may listen yet. */
const given = new Set<number>();
/** If one of these settings is set, the result of the first start differs from the template. */
const OF_FIRST_START = ['DATABASE_URL', 'DATA_DIR', 'MASTER_KEY', 'STORAGE_PROVIDER', 'STORAGE_URL'];
export const PROCESS_ADMIN_KEY = 'process-platform-admin-key-0123';

export interface ProcessOptions {
  readonly dataDir: string;
  readonly port?: number;
  readonly env?: Record<string, string>;
  /** Values that are not settings. Not allowed together with `build`. */
  readonly tuning?: Partial<Tuning>;
  /** Folder of a build; default: the build of this clone. */
  readonly build?: string;
  /** The machine on which the process runs (test/support/two-machines.ts). */
  readonly on?: { readonly address: string; readonly launcher: readonly string[] };
  /** True to run the first start, too. By default its result is copied, which takes a tenth of the time. */
  readonly fromScratch?: boolean;
}

export class PlinthProcess {
  private output = '';

  private constructor(
    readonly child: ChildProcess,
    readonly baseUrl: string,
  ) {
    child.stdout?.on('data', (chunk) => (this.output += String(chunk)));
    child.stderr?.on('data', (chunk) => (this.output += String(chunk)));
  }

  /** Starts Plinth and waits until it serves requests. @throws Error with its output if it exits */
  static async start(options: ProcessOptions): Promise<PlinthProcess> {
    const { dataDir, port, env = {}, tuning = {}, build = BUILD, on } = options;
    await copyFirstStart(options);
    const chosen = port ?? (await freePort());
    // Passed as arguments, because some tests set NODE_OPTIONS.
    const { NODE_OPTIONS: compiled, ...cache } = build === BUILD ? withCompiledCode() : {};
    const preloaded = [
      ...(compiled === undefined ? [] : [compiled]),
      ...(build === BUILD ? [`--require=${TUNE}`] : []),
    ];
    const command = [...(on?.launcher ?? []), process.execPath, ...preloaded, join(build, 'src/main.js')];
    const child = spawn(command[0]!, command.slice(1), {
      cwd: dataDir,
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        ...cache,
        PORT: String(chosen),
        HOST: '127.0.0.1',
        DATA_DIR: join(dataDir, 'data'),
        // Not an ephemeral port, which could be in use when a crashed PostgreSQL is restarted.
        EMBEDDED_DATABASE_PORT: String(await freePort()),
        PLATFORM_ADMIN_KEY: PROCESS_ADMIN_KEY,
        PLINTH_TEST_BUILD: build,
        // Each copy of a data directory would contain the ballast.
        PLINTH_TEST_TUNING: JSON.stringify({
          bcryptCost: 4,
          passphraseCost: 1_024,
          ballastBytes: 0,
          ...tuning,
        }),
        // Builds of earlier versions use these settings.
        BCRYPT_COST: '4',
        ...(build === BUILD ? {} : { DISK_RESERVE: '0', DISK_BALLAST: '0' }),
        LOG_LEVEL: 'error',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const plinth = new PlinthProcess(child, `http://${on?.address ?? '127.0.0.1'}:${chosen}`);
    await plinth.serving();
    await provideDocument(plinth.baseUrl);
    return plinth;
  }

  /** The default of PUBLIC_URL, with which links in mails begin. */
  get publicUrl(): string {
    return `http://localhost:${new URL(this.baseUrl).port}`;
  }

  /** Everything that the process has printed. */
  get printed(): string {
    return this.output;
  }

  get admin(): HttpClient {
    return new HttpClient(this.baseUrl, { authorization: `Bearer ${PROCESS_ADMIN_KEY}` });
  }

  /** Sends a signal and waits until the process has ended. @returns the exit code; null after a signal */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return this.child.exitCode;
    const ended = new Promise<number | null>((resolve) => this.child.once('exit', resolve));
    this.child.kill(signal);
    return ended;
  }

  private async serving(): Promise<void> {
    const deadline = Date.now() + START_LIMIT_MS;
    while (!this.output.includes('Plinth serves on')) {
      if (this.child.exitCode !== null || this.child.signalCode !== null || Date.now() > deadline) {
        this.child.kill('SIGKILL');
        throw new Error(`Plinth did not start:\n${this.output}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/**
 * A port that remains free until it is used: it is below the ephemeral ports, and each Jest worker has a
 * separate range.
 */
export async function freePort(): Promise<number> {
  const own = Number(process.env.JEST_WORKER_ID ?? 0) % PORT_SHARES;
  for (;;) {
    const port = FIRST_PORT + PORT_SHARES * randomInt(PORTS_OF_SHARE) + own;
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

/**
 * Environment with which Node loads the product's compiled code from the file that test/process/support/build.ts made.
 */
export function withCompiledCode(): { NODE_OPTIONS?: string; PLINTH_TEST_COMPILE_CACHE?: string } {
  const file = process.env.PLINTH_TEST_COMPILE_CACHE;
  if (file === undefined) return {};
  return { NODE_OPTIONS: `--require=${COMPILE_CACHE}`, PLINTH_TEST_COMPILE_CACHE: file };
}

/** Copies the data directory that test/process/support/build.ts made, unless this install has one. */
async function copyFirstStart({ dataDir, env = {}, build, fromScratch }: ProcessOptions): Promise<void> {
  const template = process.env.PLINTH_TEST_FIRST_START;
  const target = join(dataDir, 'data');
  if (template === undefined || fromScratch || build !== undefined || existsSync(target)) return;
  if (OF_FIRST_START.some((name) => env[name] !== undefined)) return;
  await promisify(execFile)('cp', ['-a', template, target]);
}
