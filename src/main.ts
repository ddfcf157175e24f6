/** Entry point of `npm start`: one process, or several behind one port with WORKERS. */
/* oxlint-disable typescript/no-require-imports -- the application, which takes a second to load */
import 'reflect-metadata';
import cluster from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { startDatabase } from './bootstrap/database';
import type * as Install from './bootstrap/install';
import { assertPortsFree } from './bootstrap/listen';
import { startFault } from './bootstrap/start-fault';
import type * as Workers from './bootstrap/worker-pool';
import type { AppConfig } from './config/app-config';
import { readEnvironment } from './config/dot-env';
import { loadConfig } from './config/load-config';
import { misspeltSettings } from './config/misspelt-settings';
import { assertRedisReachable } from './infra/coordination/redis-client';

/**
 * Threads for the file system: with the four of libuv, uploads wait for each other's fsync. This takes effect
 * because no thread has been used yet, and in workers; `npm start` sets it before Node starts.
 */
process.env.UV_THREADPOOL_SIZE ??= '8';

/**
 * Turns allocation-site pretenuring off. While a server fills its caches, V8 would learn that objects of some code of Node and
 * Express live long, and allocate all later ones in the old space, where they stay until the next large collection: most of
 * the heap would be garbage (docs/internals/performance.md, "Memory").
 */
setFlagsFromString('--no-allocation-site-pretenuring');
/** Collects the old space when it has grown by 75 %; V8's default is up to four times. */
setFlagsFromString('--heap-growing-percent=75');

/** A log on a full disk, or without a reader, must not end the process. Later lines are written again. */
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

/** Milliseconds in which a database that cannot be started usually fails. */
const FAULT_MS = 50;

async function main(): Promise<void> {
  const environment = readEnvironment();
  const config = loadConfig(environment);
  if (cluster.isWorker) {
    const { runWorker } = require('./bootstrap/worker-pool') as typeof Workers;
    return runWorker(config);
  }
  for (const warning of misspeltSettings(environment)) say(warning);
  await assertPortsFree(config);
  if (config.redisUrl) await assertRedisReachable(config.redisUrl);
  const starting = startDatabase(config, say);
  const application = loadWhile(starting);
  const database = await starting;
  const stops: Install.Stop[] = [() => database.stop()];
  const end = endOnce(stops);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => endBySignal(end));
  void database.lost.then((fault) => {
    fail(fault);
    return end(1);
  });
  let workers: Workers.WorkerPool | null = null;
  // Windows does not have the signal.
  if (process.platform !== 'win32') process.on('SIGUSR2', () => void replaceWorkers(workers));
  try {
    const { serveInstall } = await application;
    workers = await serveInstall(config, database, stops, say);
  } catch (error) {
    fail(error, config);
    await end(1);
  }
}

/** Loads the application while PostgreSQL starts, but not before a fault that shows at once was reported. */
async function loadWhile(starting: Promise<unknown>): Promise<typeof Install> {
  await Promise.race([starting, sleep(FAULT_MS)]).catch(() => sleep(FAULT_MS));
  return require('./bootstrap/install') as typeof Install;
}

/** Logs the outcome. A failure leaves workers in service, so this process continues. */
async function replaceWorkers(workers: Workers.WorkerPool | null): Promise<void> {
  if (!workers) {
    say('SIGUSR2 is ignored: it replaces the workers of WORKERS=2 or more, once they serve.');
    return;
  }
  try {
    await workers.replace();
    say('All workers were replaced.');
  } catch (error) {
    fail(error);
    say('The workers that were not replaced go on.');
  }
}

/** Runs the stops in order, once, however often shutdown is requested. A stop that fails changes the exit code to 1. */
function endOnce(stops: Install.Stop[]): (exitCode: number) => Promise<void> {
  let ending: Promise<void> | undefined;
  return (exitCode) => {
    ending ??= (async () => {
      let code = exitCode;
      for (const stop of stops)
        await stop().catch((error: unknown) => {
          code = 1;
          fail(error);
        });
      process.exit(code);
    })();
    return ending;
  };
}

/** Milliseconds within which signals count as one: a terminal and a service manager may send one each. */
const ONE_SIGNAL_MS = 1_000;
let firstSignalAt: number | undefined;

/** The second signal ends the process immediately. The embedded PostgreSQL notices that, and shuts down by itself. */
function endBySignal(end: (exitCode: number) => Promise<void>): void {
  firstSignalAt ??= performance.now();
  void end(0);
  if (performance.now() - firstSignalAt < ONE_SIGNAL_MS) return;
  say('Ended at once, by a second signal.');
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL');
  process.exit(1);
}

function say(message: string): void {
  process.stderr.write(`${message}\n`);
}

function fail(error: unknown, config?: AppConfig): void {
  say(startFault(error, config));
}

main().catch((error: unknown) => {
  fail(error);
  process.exit(1);
});
