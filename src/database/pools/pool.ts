/** The connections and waiting requests of one project. */
import type { ConcurrencyLimiter } from '../../admission/concurrency-limiter';
import { poolExhausted } from './pool.errors';
import type { PoolListener } from './pool-listener';
import type { PooledConnection } from './pooled-connection';
import type { ProjectDatabase } from './project-database';

export interface Waiter {
  readonly database: ProjectDatabase;
  resolve(connection: PooledConnection): void;
  reject(error: Error): void;
  /** Milliseconds of the monotonic clock. */
  readonly since: number;
  /** The time at which it is refused with 503. */
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

  /** Refuses the requests whose deadline has passed. @param now milliseconds of the monotonic clock */
  refuseExpired(now: number): void {
    while (this.waiting[0] && this.waiting[0].until <= now) this.waiting.shift()?.reject(poolExhausted());
  }

  /** Refuses the oldest request for this database; other requests have newer credentials, or need another server. */
  refuseOne(database: ProjectDatabase, error: Error): void {
    const index = this.waiting.findIndex((waiter) => waiter.database === database);
    if (index >= 0) this.waiting.splice(index, 1)[0]?.reject(error);
  }

  refuseAll(error: () => Error): void {
    for (const waiter of this.waiting.splice(0)) waiter.reject(error());
    this.lowPriority.refuse(error);
  }
}

/** Limits of the connections to projects' databases. */
export interface PoolLimits {
  /** Connections of all projects. */
  readonly total: number;
  /** Connections of one project. */
  readonly perProject: number;
  /**
   * How many of these may work at the same time. Connections in use for longer than a moment do not count
   * (concurrency-limiter.ts).
   */
  readonly workingAtOnce: number;
  /** Milliseconds that a request waits for a connection before it gets 503. */
  readonly acquireTimeoutMs: number;
  /** Milliseconds after which an idle connection is closed. */
  readonly idleTimeoutMs: number;
  /** Requests that may wait for one project's connections before further requests get 503 immediately. */
  readonly maxWaiting: number;
  /** Milliseconds without progress after which a response is aborted if requests wait for its connection. */
  readonly stalledMs: number;
  /** Cores that PostgreSQL shares with this process; absent where it runs on another machine. */
  readonly sharedCores?: number;
}

/** Work on a project's database that no request waits for: it waits for a connection that no request needs, and opens none. */
interface LowPriorityWaiter {
  resolve(connection: PooledConnection): void;
  reject(error: Error): void;
  /** Milliseconds of the monotonic clock. */
  readonly since: number;
}

/** Milliseconds after which low-priority work no longer yields to requests, since requests may never stop. */
const WAIT_TIMEOUT_MS = 1_000;

class LowPriorityWork {
  /** Number of connections in use by low-priority work. */
  inUse = 0;
  private readonly waiting: LowPriorityWaiter[] = [];

  get isWaiting(): boolean {
    return this.waiting.length > 0;
  }

  /** Resolves with the connection of a later call of lend(). */
  wait(): Promise<PooledConnection> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject, since: performance.now() });
    });
  }

  /** Whether this work gets the next free connection. @param hasRequests whether requests wait for a connection, too */
  isNext(hasRequests: boolean): boolean {
    const [first] = this.waiting;
    return first !== undefined && (!hasRequests || performance.now() - first.since > WAIT_TIMEOUT_MS);
  }

  lend(connection: PooledConnection): void {
    this.waiting.shift()?.resolve(connection);
  }

  refuse(error: () => Error): void {
    for (const waiter of this.waiting.splice(0)) waiter.reject(error());
  }
}
