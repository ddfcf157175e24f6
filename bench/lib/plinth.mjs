// Starts the built product on a temporary data directory, with its own embedded PostgreSQL, for a benchmark.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { postmasterPid } from './cpu.mjs';

/** BENCH_DIST names another build to measure. */
const DIST = process.env.BENCH_DIST ?? fileURLToPath(new URL('../../dist', import.meta.url));
const MAIN = path.join(path.resolve(DIST), 'src/main.js');
/** The options that `npm start` uses. */
const NODE_ARGUMENTS = ['--max-semi-space-size=4'];
export const ADMIN_KEY = 'benchmark-platform-admin-key';

/** @param nodeArguments for Node itself, such as --cpu-prof */
export async function startPlinth(env = {}, nodeArguments = []) {
  const directory = mkdtempSync(path.join(tmpdir(), 'plinth-bench-'));
  const port = await freePort();
  const launch = async () => {
    const started = spawn(process.execPath, [...NODE_ARGUMENTS, ...nodeArguments, MAIN], {
      cwd: directory,
      env: {
        PATH: process.env.PATH,
        PORT: String(port),
        HOST: '127.0.0.1',
        DATA_DIR: path.join(directory, 'data'),
        EMBEDDED_DATABASE_PORT: '0',
        PLATFORM_ADMIN_KEY: ADMIN_KEY,
        LOG_LEVEL: 'error',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await untilItServes(started);
    return started;
  };
  let child = await launch();
  const end = async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  };
  const baseUrl = `http://127.0.0.1:${port}`;
  const admin = (method, url, body) =>
    call(baseUrl + url, method, { authorization: `Bearer ${ADMIN_KEY}` }, body);
  return {
    baseUrl,
    filesDir: path.join(directory, 'data/files'),
    get pid() {
      return child.pid;
    },
    get postgresPid() {
      return postmasterPid(path.join(directory, 'data/postgres'));
    },
    admin,
    /** Ends Plinth and its PostgreSQL, and starts both on the same data: nothing is in their memory then. */
    async restart() {
      await end();
      child = await launch();
    },
    async stop() {
      await end();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Sends and receives JSON; throws if the status is not 2xx. */
export async function call(url, method, headers = {}, body) {
  const response = await fetch(url, {
    method,
    headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}: ${text}`);
  return text === '' ? null : JSON.parse(text);
}

export function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

function untilItServes(child) {
  return new Promise((resolve, reject) => {
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
      if (printed.includes('Plinth serves on')) resolve();
    });
    child.once('exit', (code) => reject(new Error(`Plinth ended with ${code} before it served`)));
  });
}
