/**
 * The metrics of all processes (WORKERS). A worker that is scraped asks the first process, which asks every worker and adds
 * their values. Counts of workers that have ended are kept, so that no counter decreases.
 */
import cluster, { type Worker } from 'node:cluster';
import { AggregatorRegistry, type Counter } from 'prom-client';
import { httpError } from '../common/errors/app-error';
import type { Metrics } from '../infra/metrics/metrics';

type Values = Awaited<ReturnType<Metrics['values']>>;
type Message =
  | { readonly metrics: 'all-wanted' | 'own-wanted'; readonly id: number }
  | { readonly metrics: 'all'; readonly id: number; readonly text: string }
  | { readonly metrics: 'own'; readonly id: number; readonly values: Values };

/** Milliseconds in which a process has to answer; Prometheus waits for ten seconds. */
const LIMIT_MS = 6_000;
const COUNTS: ReadonlySet<unknown> = new Set(['counter', 'histogram']);

function isMessage(message: unknown): message is Message {
  return typeof message === 'object' && message !== null && 'metrics' in message;
}

/** Runs in the first process. */
export class WorkerMetrics {
  private readonly restarts: Counter<'reason'>;
  /** The last answer of each worker, by its id. */
  private readonly last = new Map<number, Values>();
  private ended: Values = [];
  private ids = 0;
  private collecting: Promise<string> | undefined;

  constructor(private readonly own: Metrics) {
    this.restarts = own.counter(
      'plinth_worker_restarts_total',
      'Workers that ended unexpectedly, or were killed because they did not answer',
      'reason',
    );
    for (const reason of ['ended', 'hung']) this.restarts.inc({ reason }, 0);
  }

  countRestart(reason: 'ended' | 'hung'): void {
    this.restarts.inc({ reason });
  }

  /** Answers the scrapes that this worker gets. */
  serve(worker: Worker): void {
    worker.on('message', (message: unknown) => {
      if (!isMessage(message) || message.metrics !== 'all-wanted') return;
      void this.text().then((text) =>
        worker.send({ metrics: 'all', id: message.id, text } satisfies Message, () => undefined),
      );
    });
    worker.once('exit', () => void this.keepCounts(worker.id));
  }

  private text(): Promise<string> {
    this.collecting ??= this.collect().finally(() => (this.collecting = undefined));
    return this.collecting;
  }

  private async collect(): Promise<string> {
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    const own = before(LIMIT_MS, this.own.values()).then((values) => values ?? []);
    await Promise.all(workers.map((worker) => this.ask(worker)));
    return AggregatorRegistry.aggregate([await own, this.ended, ...this.last.values()]).metrics();
  }

  /** Counts the last answer of a worker that does not answer in time. */
  private async ask(worker: Worker): Promise<void> {
    const id = ++this.ids;
    const values = await before(
      LIMIT_MS,
      new Promise<Values | null>((resolve) => {
        const hear = (message: unknown): void => {
          if (!isMessage(message) || message.metrics !== 'own' || message.id !== id) return;
          worker.off('message', hear);
          resolve(message.values);
        };
        worker.on('message', hear);
        worker.once('exit', () => resolve(null));
        worker.send({ metrics: 'own-wanted', id } satisfies Message, (error) => error && resolve(null));
      }),
    );
    if (values && !worker.isDead()) this.last.set(worker.id, values);
  }

  private async keepCounts(id: number): Promise<void> {
    const counts = (this.last.get(id) ?? []).filter(({ type }) => COUNTS.has(type));
    this.last.delete(id);
    this.ended = await AggregatorRegistry.aggregate([this.ended, counts]).getMetricsAsJSON();
  }
}

/** Called in a worker: its scrapes then get the metrics of all processes. */
export function shareMetrics(metrics: Metrics): void {
  const waiting = new Map<number, (text: string) => void>();
  let ids = 0;
  metrics.ofAllProcesses = async () => {
    const id = ++ids;
    const text = await before(
      LIMIT_MS + 1_000,
      new Promise<string>((resolve) => {
        waiting.set(id, resolve);
        process.send?.({ metrics: 'all-wanted', id } satisfies Message);
      }),
    );
    waiting.delete(id);
    if (text === null) throw httpError(503, 'The first process does not answer');
    return text;
  };
  process.on('message', (message: unknown) => {
    if (!isMessage(message)) return;
    if (message.metrics === 'all') waiting.get(message.id)?.(message.text);
    if (message.metrics === 'own-wanted')
      void metrics
        .values()
        .then((values) => process.send?.({ metrics: 'own', id: message.id, values } satisfies Message));
  });
}

/** Null if the work takes longer. */
async function before<T>(limitMs: number, work: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), limitMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
