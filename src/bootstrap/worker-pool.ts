/** Several processes behind one port (WORKERS): the first one runs the database and restarts the others. */
import cluster, { type Worker } from 'node:cluster';
import { AppConfig } from '../config/app-config';
import { readEnvironment } from '../config/dot-env';
import { buildApp, startHttp, stopHttp } from './serve';

const PLATFORM_URL_VARIABLE = 'PLINTH_WORKER_PLATFORM_URL';
const RESTART_DELAY_MS = 1_000;
/** Sent by a worker to the first process once it listens on PORT; METRICS_PORT is a separate listener. */
const SERVING = 'serving';

/** The worker has printed the reason itself. */
class WorkerFailedError extends Error {
  constructor(code: number, signal: string | null) {
    super(
      `A worker ended before it served (${signal ?? `exit code ${code}`}): Plinth does not start without it.`,
    );
    this.name = 'WorkerFailedError';
  }
}

export class WorkerPool {
  private stopping = false;

  constructor(
    private readonly size: number,
    private readonly platformUrl: string,
  ) {}

  /**
   * Resolves when every worker listens.
   * @throws WorkerFailedError if one ends before that; others run until stop()
   */
  async start(): Promise<void> {
    cluster.on('exit', () => {
      if (!this.stopping) setTimeout(() => !this.stopping && this.fork(), RESTART_DELAY_MS);
    });
    const workers = Array.from({ length: this.size }, () => this.fork());
    await Promise.all(workers.map(serving));
  }

  /** Resolves when every worker has completed its requests and ended. */
  async stop(): Promise<void> {
    this.stopping = true;
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    await Promise.all(
      workers.map(
        (worker) =>
          new Promise<void>((resolve) => {
            worker.once('exit', () => resolve());
            worker.process.kill('SIGTERM');
          }),
      ),
    );
  }

  private fork(): Worker {
    return cluster.fork({ [PLATFORM_URL_VARIABLE]: this.platformUrl });
  }
}

function serving(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.on('message', (message) => message === SERVING && resolve());
    worker.once('exit', (code: number, signal: string | null) => reject(new WorkerFailedError(code, signal)));
  });
}

/** Runs one worker process until the first process ends it. */
export async function runWorker(config: AppConfig): Promise<void> {
  const platformUrl = readEnvironment()[PLATFORM_URL_VARIABLE];
  if (!platformUrl) throw new Error('a worker was started without its database');
  const app = await buildApp(config, platformUrl);
  let ending: Promise<void> | undefined;
  const end = (): void => {
    ending ??= stopHttp(config, app).finally(() => process.exit(0));
  };
  // May be called twice: systemd signals every process of a service, and the first process signals the workers too.
  process.on('SIGTERM', end);
  process.on('disconnect', end);
  // Ctrl-C reaches every process of the terminal. The first process ends the workers.
  process.on('SIGINT', () => undefined);
  await startHttp(config, app);
  process.send?.(SERVING);
}
