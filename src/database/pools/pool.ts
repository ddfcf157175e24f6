/** The connections and waiting requests of one project. */
import type { ConcurrencyLimiter } from './concurrency-limiter';
import type { PoolListener } from './pool-listener';
import type { PooledConnection } from './pooled-connection';
import type { ProjectDatabase } from './project-database';

export interface Waiter {
  readonly database: ProjectDatabase;
  resolve(connection: PooledConnection): void;
  reject(error: Error): void;
  /** Milliseconds of the monotonic clock. */
  readonly since: number;
  /** When it is refused with 503. */
  readonly until: number;
}

export interface Pool {
  readonly idle: PooledConnection[];
  readonly lent: ConcurrencyLimiter<PooledConnection>;
  /** In order of arrival, which is also the order of their deadlines. */
  readonly waiting: Waiter[];
  /** Open or opening connections. */
  size: number;
  /** Null: nothing listens to this process' pools (ProjectPools.listenOn). */
  readonly listener: PoolListener | null;
  /** Timer that serves waiting requests after a moment; null when none waits. */
  watch: NodeJS.Timeout | null;
  closed: boolean;
}
