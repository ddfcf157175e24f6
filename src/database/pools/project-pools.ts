/**
 * Connections to all projects' databases under one global limit. Each project has a limit of its own. When the global one is
 * reached, an idle connection is closed to make room, and a project without a connection comes before one that has some
 * (docs/rls-door.md, "Connections"). Written here because no pool library shares one limit between databases.
 */
import { formatHost, type HostAddress, HostGroup } from '../../pg-pipeline';
import { measureDatabase } from '../../http/request-times';
import { ConcurrencyLimiter, MOMENT_MS } from './concurrency-limiter';
import { CpuShares, LOOK_MS } from './cpu-shares';
import { FairShare } from './fair-share';
import { IdleConnections } from './idle-connections';
import {
  isDatabaseClosed,
  isLoginRefused,
  loginRefused,
  poolExhausted,
  projectPaused,
  serverSilent,
} from './pool.errors';
import { Pool } from './pool';
import { PoolListener } from './pool-listener';
import type { PoolLimits } from './pool-limits';
import { PooledConnection } from './pooled-connection';
import { ProjectDatabase } from './project-database';
import { ServerWatch } from './server-watch';
import { Streams } from './streams';

/** Milliseconds between looks at requests that only wait for the global limit, which are served as soon as it allows. */
const EXPIRY_MS = 100;
/** Milliseconds of use after which a connection that listens counts as deaf: notifications arrive between transactions. */
const DEAF_MS = 400;
/** Shares of the connections that streamed responses may hold, in all and for one client. */
const STREAMING_SHARE = 3 / 4;
const CLIENT_SHARE = 2 / 3;

export class ProjectPools {
  /** Called when a server refuses a project's login role. */
  onRefused: (database: ProjectDatabase) => void = () => undefined;
  /** Called when a server has no such database, or that accepts no connections. */
  onClosed: (database: ProjectDatabase) => void = () => undefined;
  /** PgBouncers, by the name of their server. New connections are made through them. */
  poolers: ReadonlyMap<string, HostAddress> = new Map();
  private readonly pools = new Map<string, Pool>();
  private readonly owners = new WeakMap<PooledConnection, Pool>();
  private open = 0;
  private roundTrips = 0;
  private closed = false;
  private listening: { channel: string; onNotification: (key: string) => void } | null = null;
  private readonly sweeper: NodeJS.Timeout;
  private readonly ignoreMoves = HostGroup.onMove((from) => this.abandon(from, false));
  private readonly streams: Streams;
  private readonly idle = new IdleConnections((connection) => this.owners.get(connection)?.size ?? 0);
  private readonly fairness: FairShare;
  private readonly servers: ServerWatch;
  private readonly cpu: CpuShares | null = null;
  private readonly cpuTimer: NodeJS.Timeout | undefined;

  constructor(private readonly limits: PoolLimits) {
    const { total, perProject, stalledMs } = limits;
    this.fairness = new FairShare(total, this.idle);
    this.servers = new ServerWatch(total);
    this.servers.onSilent = (isThere) => this.refuseWaiting(isThere);
    const ofProject = shareOf(perProject, STREAMING_SHARE);
    this.streams = new Streams({
      total: shareOf(total, STREAMING_SHARE),
      perProject: ofProject,
      perClient: shareOf(ofProject, CLIENT_SHARE),
      stalledMs,
    });
    this.sweeper = setInterval(() => this.closeIdle(), Math.max(1_000, limits.idleTimeoutMs / 4));
    this.sweeper.unref();
    if (limits.sharedCores === undefined) return;
    this.cpu = new CpuShares(limits.sharedCores);
    this.cpuTimer = setInterval(() => this.lookAtCpu(), LOOK_MS).unref();
  }

  /** For metrics: open connections, those held by streamed responses, waiting requests, and round trips so far. */
  stats(): { open: number; streaming: number; waiting: number; projects: number; roundTrips: number } {
    let waiting = 0;
    for (const pool of this.pools.values()) waiting += pool.waiting.length;
    const { open, roundTrips } = this;
    return { open, streaming: this.streams.size, waiting, projects: this.pools.size, roundTrips };
  }

  /**
   * From now on one connection of each project listens on a channel.
   * @param channel a constant of the code, never text from outside
   * @param onNotification called with the key of the database
   */
  listenOn(channel: string, onNotification: (key: string) => void): void {
    this.listening = { channel, onNotification };
  }

  /**
   * Since when all notifications of a database arrive, in milliseconds of the monotonic clock. Infinity: no connection
   * listens, or it has been in use for so long that notifications may be waiting.
   */
  heardSince(key: string): number {
    const pool = this.pools.get(key);
    const connection = pool?.listener?.listening;
    if (!pool?.listener || !connection || pool.lent.heldFor(connection) > DEAF_MS) return Infinity;
    return pool.listener.since;
  }

  /**
   * Lends a connection to `work` and takes it back however that ends.
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
   * project that is used now and then keeps one connection.
   * @throws DatabaseFault no_free_connection when the project has no connection
   */
  async useSpare<T>(
    { key }: ProjectDatabase,
    work: (connection: PooledConnection) => Promise<T>,
  ): Promise<T> {
    const pool = this.pools.get(key);
    if (!pool || pool.size === 0) throw poolExhausted();
    // After the request that is about to take a connection.
    setImmediate(() => this.serveSpare(pool));
    const connection = await pool.spare.wait();
    pool.spare.inUse += 1;
    try {
      return await this.workOn(connection, work);
    } finally {
      pool.spare.inUse -= 1;
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
    this.fairness.delete(pool);
    pool.refuseAll(poolExhausted);
    await Promise.all(pool.idle.splice(0).map((connection) => this.discard(pool, connection)));
  }

  /** Closes all connections permanently. Later requests, such as those of background work, are refused. */
  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.sweeper);
    clearInterval(this.cpuTimer);
    this.servers.close();
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
      pool = new Pool(new ConcurrencyLimiter(this.limits.workingAtOnce), this.newListener(database.key));
      this.pools.set(database.key, pool);
    }
    return pool;
  }

  private newListener(key: string): PoolListener | null {
    const { listening } = this;
    return listening && new PoolListener(listening.channel, () => listening.onNotification(key));
  }

  private takeAtOnce(database: ProjectDatabase): PooledConnection | undefined {
    const pool = this.pools.get(database.key);
    if (!pool || pool.waiting.length > 0 || pool.idle.length === 0 || !pool.lent.mayGrow()) return undefined;
    const connection = pool.idle.pop();
    return connection && this.lend(pool, connection);
  }

  private lend(pool: Pool, connection: PooledConnection): PooledConnection {
    this.idle.delete(connection);
    pool.lent.add(connection);
    connection.awaitedSince = performance.now();
    return connection;
  }

  private acquire(database: ProjectDatabase): Promise<PooledConnection> {
    const pool = this.poolOf(database);
    if (this.servers.isSilent(database)) return Promise.reject(serverSilent());
    if (this.closed || pool.waiting.length >= this.limits.maxWaiting) return Promise.reject(poolExhausted());
    return new Promise((resolve, reject) => {
      const since = performance.now();
      pool.waiting.push({ database, resolve, reject, since, until: since + this.limits.acquireTimeoutMs });
      this.serve(pool);
      this.pollWaiting(pool);
    });
  }

  /** Serves a pool's waiting requests, oldest first, as far as idle connections and the limits allow. */
  private serve(pool: Pool): void {
    this.serveSpare(pool);
    while (pool.waiting.length > 0 && pool.idle.length > 0 && pool.lent.mayGrow()) {
      const connection = pool.idle.pop();
      if (connection) pool.waiting.shift()?.resolve(this.lend(pool, connection));
    }
    while (pool.needsConnection && this.openFor(pool));
  }

  private serveSpare(pool: Pool): void {
    while (pool.spare.isNext(pool.waiting.length > 0) && pool.idle.length > 0 && pool.lent.mayGrow()) {
      const connection = pool.idle.pop();
      if (connection) pool.spare.lend(this.lend(pool, connection));
    }
  }

  /** While requests wait: refuses expired ones and serves others, as connections in use may count as slow by now. */
  private pollWaiting(pool: Pool): void {
    pool.watch ??= setTimeout(
      () => {
        // Runs after pending I/O events: a busy event loop must not look like a slow database.
        setImmediate(() => this.lookAtWaiting(pool));
      },
      this.fairness.isStarving(pool) ? EXPIRY_MS : MOMENT_MS,
    );
  }

  private lookAtWaiting(pool: Pool): void {
    pool.watch = null;
    pool.refuseExpired(performance.now());
    if (this.fairness.isStarving(pool)) this.serveStarving();
    else this.serve(pool);
    if (pool.waiting.length > 0) {
      this.endStalledFor(pool);
      this.pollWaiting(pool);
    }
  }

  /** Requests wait and no connection can be opened: ends responses whose clients have stopped reading. */
  private endStalledFor(pool: Pool): void {
    const [waiter] = pool.waiting;
    if (!waiter || this.streams.size === 0 || pool.idle.length > 0) return;
    if (pool.size >= this.limits.perProject) this.streams.endFor(pool.waiting.length, waiter.database.key);
    else if (this.open >= this.limits.total) this.streams.endFor(pool.waiting.length, null);
  }

  /** Opens a connection for a pool's oldest waiting request if the limits allow; may close another project's idle one. */
  private openFor(pool: Pool): boolean {
    const waiter = pool.waiting[0];
    if (!waiter || pool.closed || pool.size >= this.limits.perProject) return false;
    if (!this.servers.mayOpen(waiter.database)) {
      // It waits for its own server, not for the global limit.
      this.fairness.delete(pool);
      return false;
    }
    const room = this.fairness.mayOpen(pool, waiter, this.open);
    const owner = room instanceof PooledConnection ? this.owners.get(room) : undefined;
    if (room === false || (room !== true && !owner)) return false;
    if (room !== true && owner) this.dropIdle(owner, room);
    this.fairness.delete(pool);
    this.startConnection(pool, waiter.database);
    return true;
  }

  private startConnection(pool: Pool, database: ProjectDatabase): void {
    pool.size += 1;
    this.open += 1;
    const connection = new PooledConnection(database, this.poolerOf(database));
    this.owners.set(connection, pool);
    this.cpu?.add(connection, database);
    this.servers.add(connection);
    connection.onLost = () => this.dropIdle(pool, connection);
    const project = database.key;
    connection.onStream = (client, end) => this.streams.begin({ connection, project, client, end });
    connection.connect().then(
      async () => {
        connection.openSince = performance.now();
        // The first read of the schema must come after LISTEN, so that no change is missed in between.
        await pool.listener?.adopt(connection);
        this.release(connection);
      },
      (error: Error) => {
        void this.discard(pool, connection);
        pool.waiting.shift()?.reject(this.refusal(connection.database, error));
        this.serve(pool);
        this.serveStarving();
      },
    );
  }

  /** Their server does not answer: they would wait in vain. */
  private refuseWaiting(isThere: (database: ProjectDatabase) => boolean): void {
    for (const pool of this.pools.values()) {
      if (!pool.waiting[0] || !isThere(pool.waiting[0].database)) continue;
      pool.refuseAll(serverSilent);
    }
    this.serveStarving();
  }

  private refusal(database: ProjectDatabase, error: Error & { code?: string }): Error {
    // A replica has databases, roles and passwords from its primary, a moment later.
    if (database.isReplica) return error;
    if (isDatabaseClosed(error)) {
      this.onClosed(database);
      return loginRefused(error);
    }
    if (!isLoginRefused(error)) return error;
    this.onRefused(database);
    return loginRefused(error);
  }

  private release(connection: PooledConnection): void {
    const pool = this.owners.get(connection);
    if (!pool) return;
    pool.lent.delete(connection);
    this.streams.delete(connection);
    const isUnwanted = connection.broken || pool.closed || (this.cpu?.isOver(pool, connection) ?? false);
    if (isUnwanted || this.fairness.mustYield(pool, connection)) {
      void this.discard(pool, connection);
      this.serveStarving();
      this.serve(pool);
      return;
    }
    // The connection that listened before was closed.
    if (!pool.listener?.listening) void pool.listener?.adopt(connection);
    this.idle.add(connection);
    connection.awaitedSince = null;
    connection.server.heardAt = connection.idleSince;
    pool.idle.push(connection);
    if (pool.waiting.length > 0 || pool.spare.isWaiting) this.serve(pool);
    if (this.fairness.hasStarving) this.serveStarving();
  }

  /** Opens connections for projects that have none, as far as the global limit allows. */
  private serveStarving(): void {
    for (const pool of this.fairness.waitingPools()) {
      if (this.openFor(pool)) this.watchSoon(pool);
      else if (this.fairness.isStarving(pool)) return;
    }
  }

  /** The pool is no longer starving, so its requests may have to be looked at sooner. */
  private watchSoon(pool: Pool): void {
    if (pool.watch) clearTimeout(pool.watch);
    pool.watch = null;
    this.pollWaiting(pool);
  }

  private dropIdle(pool: Pool, connection: PooledConnection): void {
    if (pool.removeIdle(connection)) void this.discard(pool, connection);
  }

  private async discard(pool: Pool, connection: PooledConnection): Promise<void> {
    if (!this.owners.delete(connection)) return;
    this.idle.delete(connection);
    pool.listener?.leave(connection);
    this.servers.delete(connection);
    pool.size -= 1;
    this.open -= 1;
    if (pool.size === 0) pool.spare.refuse(poolExhausted);
    connection.onLost = () => undefined;
    await connection.close();
  }

  private lookAtCpu(): void {
    for (const connection of this.cpu?.look([...this.pools.values()]) ?? []) {
      const pool = this.owners.get(connection);
      if (pool) this.dropIdle(pool, connection);
    }
  }

  private closeIdle(): void {
    for (const connection of this.idle.idleBefore(performance.now() - this.limits.idleTimeoutMs)) {
      const pool = this.owners.get(connection);
      if (pool) this.dropIdle(pool, connection);
    }
    for (const [key, pool] of this.pools)
      if (pool.size === 0 && pool.waiting.length === 0) this.pools.delete(key);
  }
}

/** At least one, but not all if there are several. */
function shareOf(connections: number, share: number): number {
  return Math.max(1, Math.floor(connections * share));
}
