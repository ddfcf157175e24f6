/**
 * Connections to all projects' databases under one global limit. Each project has a limit of its own; when the global
 * one is reached, the longest idle connection of any project is closed to make room. Written here because no pool
 * library shares one limit between databases.
 */
import { formatHost, type HostAddress, HostGroup } from '../../pg-pipeline';
import { measureDatabase } from '../../http/request-times';
import { ConcurrencyLimiter, MOMENT_MS } from './concurrency-limiter';
import { loginRefused, poolExhausted } from './pool.errors';
import type { PoolLimits } from './pool-limits';
import { PooledConnection } from './pooled-connection';
import { ProjectDatabase } from './project-database';
import { Streams } from './streams';

/** Shares of the connections that streamed responses may hold, in all and for one client. */
const STREAMING_SHARE = 3 / 4;
const CLIENT_SHARE = 2 / 3;

interface Waiter {
  readonly database: ProjectDatabase;
  resolve(connection: PooledConnection): void;
  reject(error: Error): void;
  /** When it is refused with 503, in milliseconds of the monotonic clock. */
  readonly until: number;
}

interface Pool {
  readonly idle: PooledConnection[];
  readonly lent: ConcurrencyLimiter<PooledConnection>;
  /** In order of arrival, which is also the order of their deadlines. */
  readonly waiting: Waiter[];
  /** Open or opening connections. */
  size: number;
  /** Timer that serves waiting requests after a moment; null when none waits. */
  watch: NodeJS.Timeout | null;
  closed: boolean;
}

/** Wrong password, role without LOGIN, missing CONNECT privilege. */
const REFUSED = new Set(['28P01', '28000', '42501']);

export class ProjectPools {
  /** Called when a server refuses a project's login role. */
  onRefused: (database: ProjectDatabase) => void = () => undefined;
  /** PgBouncers, by the name of their server. New connections are made through them. */
  poolers: ReadonlyMap<string, HostAddress> = new Map();
  private readonly pools = new Map<string, Pool>();
  private open = 0;
  private roundTrips = 0;
  private closed = false;
  private readonly sweeper: NodeJS.Timeout;
  private readonly ignoreMoves = HostGroup.onMove((from) => this.abandon(from, false));
  private readonly streams: Streams;

  constructor(private readonly limits: PoolLimits) {
    const { total, perProject, stalledMs } = limits;
    const ofProject = shareOf(perProject, STREAMING_SHARE);
    this.streams = new Streams({
      total: shareOf(total, STREAMING_SHARE),
      perProject: ofProject,
      perClient: shareOf(ofProject, CLIENT_SHARE),
      stalledMs,
    });
    this.sweeper = setInterval(() => this.closeIdle(), Math.max(1_000, limits.idleTimeoutMs / 4));
    this.sweeper.unref();
  }

  /** For metrics: open connections, those held by streamed responses, waiting requests, and round trips so far. */
  stats(): { open: number; streaming: number; waiting: number; projects: number; roundTrips: number } {
    let waiting = 0;
    for (const pool of this.pools.values()) waiting += pool.waiting.length;
    const { open, roundTrips } = this;
    return { open, streaming: this.streams.size, waiting, projects: this.pools.size, roundTrips };
  }

  /**
   * Lends a connection to `work` and takes it back however that ends.
   * @throws DatabaseFault no_free_connection when none becomes free in time, or the pools are closed.
   */
  async use<T>(database: ProjectDatabase, work: (connection: PooledConnection) => Promise<T>): Promise<T> {
    const measured = measureDatabase();
    const connection = this.takeAtOnce(database) ?? (await this.acquire(database));
    const before = connection.roundTrips;
    try {
      return await work(connection);
    } finally {
      measured?.();
      this.roundTrips += connection.roundTrips - before;
      while (connection.cancelling) await connection.cancelling;
      if (connection.isClean || connection.broken) this.release(connection);
      // Cleaned after the response was sent.
      else void connection.clean().then(() => this.release(connection));
    }
  }

  /**
   * Closes the connections of a project that was deleted or moved, or whose credentials changed. Those in use
   * close on release.
   */
  async evict(key: string): Promise<void> {
    const ofProject = [...this.pools].filter(([name]) => name === key || name.startsWith(`${key}@`));
    await Promise.all(ofProject.map(([name, pool]) => this.closePool(name, pool)));
  }

  /**
   * Closes the connections to a server that does not answer any more or is no longer the primary. The requests that use them
   * fail as when the connection is lost.
   * @param isReplica whether the connections that were made to it as to a replica are meant, or those as to a primary
   */
  abandon(host: HostAddress, isReplica: boolean): void {
    const name = formatHost(host);
    const toServer = ({ address, database }: PooledConnection): boolean =>
      formatHost(address) === name && (database.isReplica ?? false) === isReplica;
    for (const pool of this.pools.values()) {
      for (const connection of [...pool.lent.borrowed(), ...pool.idle].filter(toServer))
        connection.disconnect();
    }
  }

  private async closePool(key: string, pool: Pool): Promise<void> {
    this.pools.delete(key);
    pool.closed = true;
    for (const waiter of pool.waiting.splice(0)) waiter.reject(poolExhausted());
    await Promise.all(pool.idle.splice(0).map((connection) => this.discard(pool, connection)));
  }

  /** Closes all connections permanently. Later requests, such as those of background work, are refused. */
  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.sweeper);
    this.ignoreMoves();
    await Promise.all([...this.pools].map(([key, pool]) => this.closePool(key, pool)));
  }

  /** The PgBouncer through which the database is reached; undefined without one. */
  private poolerOf({ server, isReplica }: ProjectDatabase): HostAddress | undefined {
    return server === undefined || isReplica ? undefined : this.poolers.get(server);
  }

  private poolOf(database: ProjectDatabase): Pool {
    let pool = this.pools.get(database.key);
    if (!pool) {
      const lent = new ConcurrencyLimiter<PooledConnection>(this.limits.workingAtOnce);
      pool = { idle: [], lent, waiting: [], size: 0, watch: null, closed: false };
      this.pools.set(database.key, pool);
    }
    return pool;
  }

  private readonly owners = new WeakMap<PooledConnection, Pool>();

  private takeAtOnce(database: ProjectDatabase): PooledConnection | undefined {
    const pool = this.pools.get(database.key);
    if (!pool || pool.waiting.length > 0 || pool.idle.length === 0 || !pool.lent.mayGrow()) return undefined;
    const connection = pool.idle.pop();
    return connection && this.lend(pool, connection);
  }

  private lend(pool: Pool, connection: PooledConnection): PooledConnection {
    pool.lent.add(connection);
    return connection;
  }

  private acquire(database: ProjectDatabase): Promise<PooledConnection> {
    const pool = this.poolOf(database);
    if (this.closed || pool.waiting.length >= this.limits.maxWaiting) return Promise.reject(poolExhausted());
    return new Promise((resolve, reject) => {
      const until = performance.now() + this.limits.acquireTimeoutMs;
      pool.waiting.push({ database, resolve, reject, until });
      this.serve(pool);
      this.pollWaiting(pool);
    });
  }

  /** Serves a pool's waiting requests, oldest first, as far as idle connections and the limits allow. */
  private serve(pool: Pool): void {
    while (pool.waiting.length > 0 && pool.idle.length > 0 && pool.lent.mayGrow()) {
      const connection = pool.idle.pop();
      if (connection) pool.waiting.shift()?.resolve(this.lend(pool, connection));
    }
    while (this.needsConnection(pool) && this.openFor(pool));
  }

  private needsConnection(pool: Pool): boolean {
    const opening = pool.size - pool.idle.length - pool.lent.size;
    return pool.waiting.length > opening && pool.idle.length === 0 && pool.lent.mayGrow(opening);
  }

  /** While requests wait: refuses expired ones and serves others, as connections in use may count as slow by now. */
  private pollWaiting(pool: Pool): void {
    pool.watch ??= setTimeout(() => {
      // Runs after pending I/O events: a busy event loop must not look like a slow database.
      setImmediate(() => {
        pool.watch = null;
        const now = performance.now();
        while (pool.waiting[0] && pool.waiting[0].until <= now) pool.waiting.shift()?.reject(poolExhausted());
        this.serve(pool);
        if (pool.waiting.length > 0) {
          this.endStalledFor(pool);
          this.pollWaiting(pool);
        }
      });
    }, MOMENT_MS);
  }

  /** Requests wait and no connection can be opened: ends responses whose clients have stopped reading. */
  private endStalledFor(pool: Pool): void {
    const [waiter] = pool.waiting;
    if (!waiter || this.streams.size === 0 || pool.idle.length > 0) return;
    if (pool.size >= this.limits.perProject) this.streams.endFor(pool.waiting.length, waiter.database.key);
    else if (this.open >= this.limits.total) this.streams.endFor(pool.waiting.length, null);
  }

  /**
   * Opens a connection for a pool's oldest waiting request if the limits allow; may close another project's
   * idle one.
   */
  private openFor(pool: Pool): boolean {
    const waiter = pool.waiting[0];
    if (!waiter || pool.closed || pool.size >= this.limits.perProject) return false;
    if (this.open >= this.limits.total && !this.closeLongestIdle()) return false;
    pool.size += 1;
    this.open += 1;
    const connection = new PooledConnection(waiter.database, this.poolerOf(waiter.database));
    this.owners.set(connection, pool);
    connection.onLost = () => this.dropIdle(pool, connection);
    const project = waiter.database.key;
    connection.onStream = (client, end) => this.streams.begin({ connection, project, client, end });
    connection.connect().then(
      () => this.release(connection),
      (error: Error) => {
        void this.discard(pool, connection);
        pool.waiting.shift()?.reject(this.refusal(connection.database, error));
        this.serve(pool);
        this.serveOtherPools();
      },
    );
    return true;
  }

  private refusal(database: ProjectDatabase, error: Error & { code?: string }): Error {
    // A replica has roles and passwords from its primary, a moment later.
    if (!REFUSED.has(error.code ?? '') || database.isReplica) return error;
    this.onRefused(database);
    return loginRefused(error);
  }

  private release(connection: PooledConnection): void {
    const pool = this.owners.get(connection);
    if (!pool) return;
    pool.lent.delete(connection);
    this.streams.delete(connection);
    if (connection.broken || pool.closed) {
      void this.discard(pool, connection);
      this.serve(pool);
      this.serveOtherPools();
      return;
    }
    connection.idleSince = performance.now();
    pool.idle.push(connection);
    if (pool.waiting.length > 0) this.serve(pool);
    if (this.open >= this.limits.total && pool.idle.length > 0) this.serveOtherPools();
  }

  /** A connection became idle or was closed: serves another project that waits for the global limit. */
  private serveOtherPools(): void {
    for (const pool of this.pools.values()) {
      if (this.needsConnection(pool) && this.openFor(pool)) return;
    }
  }

  private closeLongestIdle(): boolean {
    let oldest: { pool: Pool; connection: PooledConnection } | undefined;
    for (const pool of this.pools.values()) {
      const connection = pool.idle[0];
      if (connection && (!oldest || connection.idleSince < oldest.connection.idleSince)) {
        oldest = { pool, connection };
      }
    }
    if (!oldest) return false;
    this.dropIdle(oldest.pool, oldest.connection);
    return true;
  }

  private dropIdle(pool: Pool, connection: PooledConnection): void {
    const index = pool.idle.indexOf(connection);
    if (index < 0) return;
    pool.idle.splice(index, 1);
    void this.discard(pool, connection);
  }

  private async discard(pool: Pool, connection: PooledConnection): Promise<void> {
    if (!this.owners.delete(connection)) return;
    pool.size -= 1;
    this.open -= 1;
    connection.onLost = () => undefined;
    await connection.close();
  }

  private closeIdle(): void {
    const before = performance.now() - this.limits.idleTimeoutMs;
    for (const [key, pool] of this.pools) {
      for (const connection of pool.idle.filter((one) => one.idleSince < before))
        this.dropIdle(pool, connection);
      if (pool.size === 0 && pool.waiting.length === 0) this.pools.delete(key);
    }
  }
}

/** At least one, but not all if there are several. */
function shareOf(connections: number, share: number): number {
  return Math.max(1, Math.floor(connections * share));
}
