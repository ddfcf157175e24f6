/**
 * Connections to all projects' databases under one global limit. Each project also has a limit. When the global limit is
 * reached, an idle connection is closed to make room, and a project without a connection comes before projects that have some
 * (docs/internals/rls-door.md, "Connections"). Written here because no pool library shares one limit between databases.
 */
import { type HostAddress, HostGroup } from '../../pg-pipeline';
import { measureDatabase } from '../../http/request-times';
import { ConcurrencyLimiter } from '../../admission/concurrency-limiter';
import { POLL_INTERVAL_MS } from '../../admission/cpu-shares';
import { ConnectionQueue } from './connection-queue';
import { type ConnectionHooks, leadsTo, OpenConnections } from './open-connections';
import { poolExhausted, projectPaused } from './pool.errors';
import { Pool, type PoolLimits } from './pool';
import { PoolListener } from './pool-listener';
import type { PooledConnection } from './pooled-connection';
import type { ProjectDatabase } from './project-database';

/** Milliseconds of use after which a connection that listens no longer counts: notifications arrive between transactions. */
const DEAF_MS = 400;

export class ProjectPools implements ConnectionHooks {
  onRefused: (database: ProjectDatabase) => void = () => undefined;
  onClosed: (database: ProjectDatabase) => void = () => undefined;
  poolers: ReadonlyMap<string, HostAddress> = new Map();
  private readonly pools = new Map<string, Pool>();
  private readonly connections: OpenConnections;
  private readonly queue: ConnectionQueue;
  private roundTrips = 0;
  private closed = false;
  private listening: { channel: string; onNotification: (key: string) => void } | null = null;
  private readonly timers: readonly NodeJS.Timeout[];
  private readonly ignoreMoves = HostGroup.onMove((from) => this.abandon(from, false));

  constructor(private readonly limits: PoolLimits) {
    this.connections = new OpenConnections(limits, this);
    this.queue = new ConnectionQueue(limits, this.connections);
    this.connections.servers.onSilent = (isThere) => this.queue.refuseSilent(this.pools.values(), isThere);
    const sweeper = setInterval(() => this.closeIdle(), Math.max(1_000, limits.idleTimeoutMs / 4));
    const cpuTimer = setInterval(() => this.connections.checkCpu(this.pools.values()), POLL_INTERVAL_MS);
    this.timers = [sweeper.unref(), cpuTimer.unref()];
  }

  /** For metrics: open connections, connections held by streamed responses, waiting requests, and round trips so far. */
  stats(): { open: number; streaming: number; waiting: number; projects: number; roundTrips: number } {
    let waiting = 0;
    for (const pool of this.pools.values()) waiting += pool.waiting.length;
    const { size: open, streams } = this.connections;
    return { open, streaming: streams.size, waiting, projects: this.pools.size, roundTrips: this.roundTrips };
  }

  /**
   * Makes one connection of each project listen on a channel.
   * @param channel a constant of the code, never text from outside
   * @param onNotification called with the key of the database
   */
  listenOn(channel: string, onNotification: (key: string) => void): void {
    this.listening = { channel, onNotification };
  }

  /**
   * The time since which all notifications of a database arrive, in milliseconds of the monotonic clock. Infinity: no
   * connection listens, or it has been in use for so long that notifications may be waiting.
   */
  heardSince(key: string): number {
    const pool = this.pools.get(key);
    const connection = pool?.listener?.listening;
    if (!pool?.listener || !connection || pool.lent.heldFor(connection) > DEAF_MS) return Infinity;
    return pool.listener.since;
  }

  /**
   * Lends a connection to `work` and takes it back however the work ends.
   * @throws DatabaseFault no_free_connection when none becomes free in time, or the pools are closed; project_paused
   */
  async use<T>(database: ProjectDatabase, work: (connection: PooledConnection) => Promise<T>): Promise<T> {
    if (database.isPaused) throw projectPaused();
    const measured = measureDatabase();
    const connection = this.takeAtOnce(database) ?? (await this.acquire(database));
    return this.workOn(connection, work, measured);
  }

  /**
   * Like use(), for work that no request waits for. It gets an open connection while no request needs it, and opens none: a
   * project in occasional use keeps one connection.
   * @throws DatabaseFault no_free_connection when the project has no connection
   */
  async useSpare<T>(
    { key }: ProjectDatabase,
    work: (connection: PooledConnection) => Promise<T>,
  ): Promise<T> {
    const pool = this.pools.get(key);
    if (!pool || pool.size === 0) throw poolExhausted();
    // Yields to a request that is about to take a connection.
    setImmediate(() => this.queue.serveLowPriority(pool));
    const connection = await pool.lowPriority.wait();
    pool.lowPriority.inUse += 1;
    try {
      return await this.workOn(connection, work);
    } finally {
      pool.lowPriority.inUse -= 1;
    }
  }

  private async workOn<T>(
    connection: PooledConnection,
    work: (connection: PooledConnection) => Promise<T>,
    measured?: () => void,
  ): Promise<T> {
    const before = connection.roundTrips;
    try {
      return await work(connection);
    } finally {
      measured?.();
      this.roundTrips += connection.roundTrips - before;
      while (connection.cancelling) await connection.cancelling;
      if (connection.isClean || connection.broken) this.queue.release(connection);
      // Cleaned after the response was sent.
      else void connection.clean().then(() => this.queue.release(connection));
    }
  }

  /**
   * Closes the connections of a project that was deleted or moved, or whose credentials changed. Connections in use
   * close on release.
   */
  async evict(key: string): Promise<void> {
    const ofProject = [...this.pools].filter(([name]) => name === key || name.startsWith(`${key}@`));
    await Promise.all(ofProject.map(([name, pool]) => this.closePool(name, pool)));
  }

  /**
   * Closes the connections to a server that does not answer any more or is no longer the primary. The requests that use them
   * fail as when the connection is lost.
   * @param isReplica true: closes the connections to the host as a replica; false: as a primary
   */
  abandon(host: HostAddress, isReplica: boolean): void {
    for (const pool of this.pools.values())
      for (const connection of [...pool.lent.borrowed(), ...pool.idle])
        if (leadsTo(connection, host, isReplica)) connection.disconnect();
  }

  private async closePool(key: string, pool: Pool): Promise<void> {
    this.pools.delete(key);
    pool.closed = true;
    this.queue.close(pool);
    await Promise.all(pool.idle.splice(0).map((connection) => this.connections.discard(pool, connection)));
  }

  /** Closes all connections permanently. Later requests, such as requests of background work, are refused. */
  async close(): Promise<void> {
    this.closed = true;
    for (const timer of this.timers) clearInterval(timer);
    this.connections.servers.close();
    this.ignoreMoves();
    await Promise.all([...this.pools].map(([key, pool]) => this.closePool(key, pool)));
  }

  private takeAtOnce({ key }: ProjectDatabase): PooledConnection | undefined {
    const pool = this.pools.get(key);
    return pool && this.queue.takeAtOnce(pool);
  }

  private acquire(database: ProjectDatabase): Promise<PooledConnection> {
    if (this.closed) return Promise.reject(poolExhausted());
    return this.queue.wait(this.poolOf(database), database);
  }

  private poolOf({ key }: ProjectDatabase): Pool {
    let pool = this.pools.get(key);
    if (!pool) {
      pool = new Pool(new ConcurrencyLimiter(this.limits.workingAtOnce), this.newListener(key));
      this.pools.set(key, pool);
    }
    return pool;
  }

  private newListener(key: string): PoolListener | null {
    const { listening } = this;
    return listening && new PoolListener(listening.channel, () => listening.onNotification(key));
  }

  private closeIdle(): void {
    this.connections.closeIdle(this.limits.idleTimeoutMs);
    for (const [key, pool] of this.pools)
      if (pool.size === 0 && pool.waiting.length === 0) this.pools.delete(key);
  }
}
