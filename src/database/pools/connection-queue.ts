/**
 * The queue of requests for connections. Requests of a project are served in order of arrival, as far as idle connections and
 * the limits allow (docs/internals/rls-door.md, "Connections").
 */
import { MOMENT_MS } from '../../admission/concurrency-limiter';
import { FairShare } from '../../admission/fair-share';
import type { OpenConnections } from './open-connections';
import { poolExhausted, serverSilent } from './pool.errors';
import type { Pool, PoolLimits } from './pool';
import { PooledConnection } from './pooled-connection';
import type { ProjectDatabase } from './project-database';

/** Milliseconds between checks of requests that only wait for the global limit, which are served as soon as it allows. */
const EXPIRY_MS = 100;

export class ConnectionQueue {
  private readonly fairness: FairShare<PooledConnection, Pool>;

  constructor(
    private readonly limits: PoolLimits,
    private readonly connections: OpenConnections,
  ) {
    this.fairness = new FairShare(limits.total, connections.idle);
  }

  /** An idle connection, if no request waits for it. */
  takeAtOnce(pool: Pool): PooledConnection | undefined {
    return pool.waiting.length > 0 ? undefined : this.takeIdle(pool);
  }

  /**
   * Waits for a connection.
   * @throws DatabaseFault no_free_connection, server_silent or the error of a connection that was opened for it
   */
  wait(pool: Pool, database: ProjectDatabase): Promise<PooledConnection> {
    if (this.connections.servers.isSilent(database)) return Promise.reject(serverSilent());
    if (pool.waiting.length >= this.limits.maxWaiting) return Promise.reject(poolExhausted());
    return new Promise((resolve, reject) => {
      const since = performance.now();
      pool.waiting.push({ database, resolve, reject, since, until: since + this.limits.acquireTimeoutMs });
      this.serve(pool);
      this.pollWaiting(pool);
    });
  }

  /** Serves background work, while no request needs the connection. */
  serveLowPriority(pool: Pool): void {
    while (pool.lowPriority.isNext(pool.waiting.length > 0)) {
      const connection = this.takeIdle(pool);
      if (!connection) return;
      pool.lowPriority.lend(connection);
    }
  }

  /** Takes a connection back and gives it to the next request. */
  release(connection: PooledConnection): void {
    const pool = this.connections.poolOf(connection);
    if (!pool) return;
    pool.lent.delete(connection);
    this.connections.streams.delete(connection);
    if (this.connections.isUnwanted(pool, connection) || this.fairness.mustYield(pool, connection)) {
      void this.connections.discard(pool, connection);
      this.serveStarving();
      this.serve(pool);
      return;
    }
    // The connection that listened before was closed.
    if (!pool.listener?.listening) void pool.listener?.adopt(connection);
    this.connections.idle.add(connection);
    connection.awaitedSince = null;
    connection.server.heardAt = connection.idleSince;
    pool.idle.push(connection);
    if (pool.waiting.length > 0 || pool.lowPriority.isWaiting) this.serve(pool);
    if (this.fairness.hasStarving) this.serveStarving();
  }

  /** Refuses all requests of a pool that was closed. */
  close(pool: Pool): void {
    this.fairness.delete(pool);
    pool.refuseAll(poolExhausted);
  }

  /** Refuses requests whose server does not answer. */
  refuseSilent(pools: Iterable<Pool>, isThere: (database: ProjectDatabase) => boolean): void {
    for (const pool of pools)
      if (pool.waiting[0] && isThere(pool.waiting[0].database)) pool.refuseAll(serverSilent);
    this.serveStarving();
  }

  private takeIdle(pool: Pool): PooledConnection | undefined {
    if (pool.idle.length === 0 || !pool.lent.mayGrow()) return undefined;
    const connection = pool.idle.pop();
    if (!connection) return undefined;
    this.connections.idle.delete(connection);
    pool.lent.add(connection);
    connection.awaitedSince = performance.now();
    return connection;
  }

  /** Serves a pool's waiting requests, oldest first. */
  private serve(pool: Pool): void {
    this.serveLowPriority(pool);
    while (pool.waiting.length > 0) {
      const connection = this.takeIdle(pool);
      if (!connection) break;
      pool.waiting.shift()?.resolve(connection);
    }
    while (pool.needsConnection && this.openFor(pool));
  }

  /** While requests wait: refuses expired requests and serves others, because connections in use may have become slow. */
  private pollWaiting(pool: Pool): void {
    pool.watch ??= setTimeout(
      () => {
        // Runs after pending I/O events: a busy event loop must not look like a slow database.
        setImmediate(() => this.checkWaiting(pool));
      },
      this.fairness.isStarving(pool) ? EXPIRY_MS : MOMENT_MS,
    );
  }

  private checkWaiting(pool: Pool): void {
    pool.watch = null;
    pool.refuseExpired(performance.now());
    if (this.fairness.isStarving(pool)) this.serveStarving();
    else this.serve(pool);
    if (pool.waiting.length > 0) {
      this.endStalledFor(pool);
      this.pollWaiting(pool);
    }
  }

  /** Called when requests wait and no connection can be opened: ends responses whose clients have stopped reading. */
  private endStalledFor(pool: Pool): void {
    const [waiter] = pool.waiting;
    const { streams } = this.connections;
    if (!waiter || streams.size === 0 || pool.idle.length > 0) return;
    if (pool.size >= this.limits.perProject) streams.endFor(pool.waiting.length, waiter.database.key);
    else if (this.connections.size >= this.limits.total) streams.endFor(pool.waiting.length, null);
  }

  /** Opens a connection for a pool's oldest waiting request if the limits allow; may close an idle connection of another project. */
  private openFor(pool: Pool): boolean {
    const waiter = pool.waiting[0];
    if (!waiter || pool.closed || pool.size >= this.limits.perProject) return false;
    if (!this.connections.servers.mayOpen(waiter.database)) {
      // The request waits for its own server, not for the global limit.
      this.fairness.delete(pool);
      return false;
    }
    const room = this.fairness.mayOpen(pool, waiter, this.connections.size);
    if (room === false) return false;
    if (room instanceof PooledConnection) this.connections.dropIdle(room);
    this.fairness.delete(pool);
    this.startConnection(pool, waiter.database);
    return true;
  }

  private startConnection(pool: Pool, database: ProjectDatabase): void {
    this.connections.start(pool, database).then(
      (connection) => this.release(connection),
      (error: Error) => {
        pool.refuseOne(database, error);
        this.serve(pool);
        this.serveStarving();
      },
    );
  }

  /** Opens connections for projects that have none, as far as the global limit allows. */
  private serveStarving(): void {
    for (const pool of this.fairness.waitingPools()) {
      if (this.openFor(pool)) this.watchSoon(pool);
      else if (this.fairness.isStarving(pool)) return;
    }
  }

  /** Called when a pool is no longer starving, so that its requests are checked sooner if needed. */
  private watchSoon(pool: Pool): void {
    if (pool.watch) clearTimeout(pool.watch);
    pool.watch = null;
    this.pollWaiting(pool);
  }
}
