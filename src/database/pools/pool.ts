/** The connections and waiting requests of one project. */
import type { ConcurrencyLimiter } from './concurrency-limiter';
import { poolExhausted } from './pool.errors';
import type { PoolListener } from './pool-listener';
import type { PooledConnection } from './pooled-connection';
import type { ProjectDatabase } from './project-database';
import { LowPriorityWork } from './low-priority-work';

export interface Waiter {
  readonly database: ProjectDatabase;
  resolve(connection: PooledConnection): void;
  reject(error: Error): void;
  /** Milliseconds of the monotonic clock. */
  readonly since: number;
  /** When it is refused with 503. */
  readonly until: number;
}

export class Pool {
  readonly idle: PooledConnection[] = [];
  /** In order of arrival, which is also the order of their deadlines. */
  readonly waiting: Waiter[] = [];
  readonly lowPriority = new LowPriorityWork();
  /** Open or opening connections. */
  size = 0;
  /** Timer that serves waiting requests after a moment; null when none waits. */
  watch: NodeJS.Timeout | null = null;
  closed = false;

  /** @param listener null: nothing listens to this process' pools (ProjectPools.listenOn) */
  constructor(
    readonly lent: ConcurrencyLimiter<PooledConnection>,
    readonly listener: PoolListener | null,
  ) {}

  /** Whether a request waits for a connection that is not being opened yet. */
  get needsConnection(): boolean {
    const opening = this.size - this.idle.length - this.lent.size;
    return this.waiting.length > opening && this.idle.length === 0 && this.lent.mayGrow(opening);
  }

  /** False if the connection is not idle. */
  removeIdle(connection: PooledConnection): boolean {
    const index = this.idle.indexOf(connection);
    if (index >= 0) this.idle.splice(index, 1);
    return index >= 0;
  }

  /** Refuses the requests whose time is over. @param now milliseconds of the monotonic clock */
  refuseExpired(now: number): void {
    while (this.waiting[0] && this.waiting[0].until <= now) this.waiting.shift()?.reject(poolExhausted());
  }

  refuseAll(error: () => Error): void {
    for (const waiter of this.waiting.splice(0)) waiter.reject(error());
    this.lowPriority.refuse(error);
  }
}
