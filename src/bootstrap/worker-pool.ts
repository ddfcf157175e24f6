/** Several processes behind one port (WORKERS): the first one runs the database, and replaces the others. */
import cluster, { type Worker } from 'node:cluster';
import { AppConfig } from '../config/app-config';
import { readEnvironment } from '../config/dot-env';
import { Metrics } from '../infra/metrics/metrics';
import { shareMetrics, WorkerMetrics } from './worker-metrics';
import { buildApp, endLimitMs, retireHttp, startHttp, stopHttp } from './serve';

const PLATFORM_URL_VARIABLE = 'PLINTH_WORKER_PLATFORM_URL';
const RESTART_DELAY_MS = 1_000;
/** Sent by a worker to the first process once it listens on PORT; METRICS_PORT is a separate listener. */
const SERVING = 'serving';
/** Sent to a worker whose successor serves. */
const RETIRE = 'retire';
/** Sent to each worker that serves, which sends it back. */
const PING = 'ping';
const PING_MS = 1_000;
/** Milliseconds without an answer after which a worker counts as hung. */
const HUNG_MS = 10_000;
/** Milliseconds beyond the time that a worker needs to end on its own. */
const KILL_MARGIN_MS = 5_000;

/** The worker has printed the reason itself. */
class WorkerFailedError extends Error {
  constructor(code: number, signal: string | null) {
    super(`A worker ended before it served (${signal ?? `exit code ${code}`}). It has printed the reason.`);
    this.name = 'WorkerFailedError';
  }
}

export class WorkerPool {
  private stopping = false;
  private replacing: Promise<void> | undefined;
  /** Ids of the workers that are started again if they end. */
  private readonly members = new Set<number>();
  /** The time of each worker's last answer, in milliseconds of the monotonic clock. */
  private readonly answeredAt = new Map<number, number>();
  private pinging: NodeJS.Timeout | undefined;
  private readonly metrics: WorkerMetrics;
  /** Ids of the workers that were killed because they did not answer. */
  private readonly hung = new Set<number>();

  constructor(
    private readonly config: AppConfig,
    private readonly platformUrl: string,
    private readonly say: (message: string) => void,
    metrics: Metrics,
  ) {
    this.metrics = new WorkerMetrics(metrics);
  }

  /**
   * Resolves when every worker listens.
   * @throws WorkerFailedError if one ends before that; the other workers run until stop()
   */
  async start(): Promise<void> {
    cluster.on('exit', ({ id }) => {
      this.answeredAt.delete(id);
      if (!this.members.delete(id) || this.stopping) return;
      this.metrics.countRestart(this.hung.delete(id) ? 'hung' : 'ended');
      setTimeout(() => !this.stopping && this.add(this.fork()), RESTART_DELAY_MS);
    });
    const workers = Array.from({ length: this.config.server.workers }, () => this.add(this.fork()));
    await Promise.all(workers.map(serving));
    this.pinging = setInterval(() => this.ping(), PING_MS).unref();
  }

  /**
   * Replaces the workers, one at a time, by new processes, which read the program and the settings again. A worker completes
   * its requests and ends once its successor serves, so no request fails. A second call during the first joins it.
   * @throws WorkerFailedError if a new worker does not serve; the workers that were not replaced yet continue
   */
  replace(): Promise<void> {
    this.replacing ??= this.replaceEach().finally(() => (this.replacing = undefined));
    return this.replacing;
  }

  /** Resolves when every worker has completed its requests and ended. @throws Error when one had to be killed */
  async stop(): Promise<void> {
    this.stopping = true;
    clearInterval(this.pinging);
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    let killed = 0;
    const kill = setTimeout(
      () => {
        for (const worker of workers.filter((one) => !one.isDead())) {
          killed += 1;
          worker.process.kill('SIGKILL');
        }
      },
      endLimitMs(this.config) + KILL_MARGIN_MS,
    );
    await Promise.all(workers.map((worker) => ended(worker, () => worker.process.kill('SIGTERM'))));
    clearTimeout(kill);
    if (killed > 0) throw new Error(`${killed} workers did not end in time and were killed.`);
  }

  /** Kills workers that do not answer, which ends their connections; another worker is started when one ends. */
  private ping(): void {
    const now = performance.now();
    for (const id of this.members) {
      const worker = cluster.workers?.[id];
      const answeredAt = this.answeredAt.get(id);
      // The worker does not serve yet.
      if (!worker || answeredAt === undefined) continue;
      if (now - answeredAt > HUNG_MS) {
        this.answeredAt.delete(id);
        this.hung.add(id);
        this.say(`A worker has not answered for ${HUNG_MS / 1_000} seconds. It is replaced.`);
        worker.process.kill('SIGKILL');
      } else worker.send(PING, () => undefined);
    }
  }

  private async replaceEach(): Promise<void> {
    for (const id of [...this.members]) {
      // The worker may have ended since then, and may already be replaced.
      const worker = this.members.has(id) ? cluster.workers?.[id] : undefined;
      if (worker === undefined || this.stopping) continue;
      const successor = this.fork();
      await serving(successor);
      this.add(successor);
      this.members.delete(id);
      // The callback receives the error if the worker ends at this moment.
      await ended(worker, () => worker.send(RETIRE, () => undefined));
    }
  }

  private fork(): Worker {
    const worker = cluster.fork({ [PLATFORM_URL_VARIABLE]: this.platformUrl });
    endPendingConnection(worker);
    this.metrics.serve(worker);
    worker.on('message', (message) => {
      if (message === PING || message === SERVING) this.answeredAt.set(worker.id, performance.now());
    });
    return worker;
  }

  private add(worker: Worker): Worker {
    this.members.add(worker.id);
    return worker;
  }
}

/**
 * Node passes connections on one at a time, and keeps a connection open forever if the worker is killed before it has taken it
 * over.
 */
function endPendingConnection(worker: Worker): void {
  const { process: child } = worker;
  const send = child.send.bind(child) as (message: unknown, handle?: Handle, ...rest: unknown[]) => boolean;
  let last: Handle | undefined;
  Object.assign(child, {
    send: (message: unknown, handle?: Handle, ...rest: unknown[]) => {
      if (typeof handle?.close === 'function') last = handle;
      return send(message, handle, ...rest);
    },
  });
  // Has no effect on a connection that was taken over.
  worker.once('exit', (_code, signal) => signal !== null && last?.close?.());
}

interface Handle {
  close?(): void;
}

/** Resolves when the worker has ended, which `end` causes. */
function ended(worker: Worker, end: () => void): Promise<void> {
  return new Promise((resolve) => {
    worker.once('exit', () => resolve());
    if (worker.isDead()) resolve();
    else end();
  });
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
  // A signal to all processes of a service is meant for the first process only. Windows does not have it.
  if (process.platform !== 'win32') process.on('SIGUSR2', () => undefined);
  const app = await buildApp(config, platformUrl);
  shareMetrics(app.get(Metrics));
  let ending: Promise<void> | undefined;
  const endBy = (stop: typeof stopHttp): void => {
    ending ??= stop(config, app).then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  const end = (): void => {
    // A retired worker must end quickly now.
    if (ending) void app.getHttpServer().drain(config.server.shutdownTimeoutMs);
    else endBy(stopHttp);
  };
  process.on('message', (message) => {
    if (message === RETIRE) endBy(retireHttp);
    if (message === PING) process.send?.(PING);
  });
  // May be called twice: systemd signals every process of a service, and the first process signals the workers too.
  process.on('SIGTERM', end);
  process.on('disconnect', end);
  // Ctrl-C reaches every process of the terminal. The first process ends the workers.
  process.on('SIGINT', () => undefined);
  await startHttp(config, app);
  process.send?.(SERVING);
}
