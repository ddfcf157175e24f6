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
  /** Requests that may wait for one project's connections before further requests get 503 at once. */
  readonly maxWaiting: number;
  /** Milliseconds without progress after which a response is aborted if requests wait for its connection. */
  readonly stalledMs: number;
  /** Cores that PostgreSQL shares with this process; absent where it runs on another machine. */
  readonly sharedCores?: number;
}
