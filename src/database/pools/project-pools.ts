/**
 * Connections to all projects' databases under one global limit. Each project has a limit of its own. When the global one is
 * reached, an idle connection is closed to make room, and a project without a connection comes before one that has some
 * (docs/rls-door.md, "Connections"). Written here because no pool library shares one limit between databases.
 */
import { measureDatabase } from '../../http/request-times';
import { ConcurrencyLimiter, MOMENT_MS } from './concurrency-limiter';
import { IdleConnections } from './idle-connections';
import { loginRefused, poolExhausted } from './pool.errors';
import type { Pool, Waiter } from './pool';
import { PoolListener } from './pool-listener';
import type { PoolLimits } from './pool-limits';
import { PooledConnection } from './pooled-connection';
import { ProjectDatabase } from './project-database';
import { Streams } from './streams';

/** Share of the connections from which on a project that has one waits a little before it opens another. */
const PLENTY_SHARE = 1 / 2;
/** Milliseconds that it waits: more than the start of a connection takes, also on a busy machine. */
const PATIENCE_MS = 50;
/** Milliseconds after which it may take the only connection of another project: its own is occupied by a slow request. */
const PRESSING_MS = 1_000;
/**
 * Milliseconds after which a busy project has to give its only connection to one that has none. Until then its waiting requests
 * are served first: the start of a connection costs as much as some hundred requests.
 */
const TENURE_MS = 250;
/** Milliseconds between looks at requests that only wait for the global limit, which are served as soon as it allows. */
const EXPIRY_MS = 100;
/** Milliseconds of use after which a connection that listens counts as deaf: notifications arrive between transactions. */
const DEAF_MS = 400;
/** Shares of the connections that streamed responses may hold, in all and for one client. */
const STREAMING_SHARE = 3 / 4;
const CLIENT_SHARE = 2 / 3;

/** Wrong password, role without LOGIN, missing CONNECT privilege. */
const REFUSED = new Set(['28P01', '28000', '42501']);

export class ProjectPools {
  /** Called when a server refuses a project's login role. */
  onRefused: (database: ProjectDatabase) => void = () => undefined;
  private readonly pools = new Map<string, Pool>();
  private open = 0;
  private roundTrips = 0;
  private closed = false;
  private listening: { channel: string; onNotification: (key: string) => void } | null = null;
  private readonly sweeper: NodeJS.Timeout;
  private readonly streams: Streams;
  private readonly idle = new IdleConnections((connection) => this.owners.get(connection)?.size ?? 0);
  /** Projects with waiting requests and without a connection, because of the global limit, in order of arrival. */
  private readonly starving = new Set<Pool>();

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
    const pool = this.pools.get(key);
    if (!pool) return;
    this.pools.delete(key);
    pool.closed = true;
    this.starving.delete(pool);
    for (const waiter of pool.waiting.splice(0)) waiter.reject(poolExhausted());
    await Promise.all(pool.idle.splice(0).map((connection) => this.discard(pool, connection)));
  }

  /** Closes all connections permanently. Later requests, such as those of background work, are refused. */
  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.sweeper);
    await Promise.all([...this.pools.keys()].map((key) => this.evict(key)));
  }

  private poolOf(database: ProjectDatabase): Pool {
    let pool = this.pools.get(database.key);
    if (!pool) {
      const lent = new ConcurrencyLimiter<PooledConnection>(this.limits.workingAtOnce);
      const listener = this.newListener(database.key);
      pool = { idle: [], lent, waiting: [], size: 0, listener, watch: null, closed: false };
      this.pools.set(database.key, pool);
    }
    return pool;
  }

  private newListener(key: string): PoolListener | null {
    const { listening } = this;
    return listening && new PoolListener(listening.channel, () => listening.onNotification(key));
  }

  private readonly owners = new WeakMap<PooledConnection, Pool>();

  private takeAtOnce(database: ProjectDatabase): PooledConnection | undefined {
    const pool = this.pools.get(database.key);
    if (!pool || pool.waiting.length > 0 || pool.idle.length === 0 || !pool.lent.mayGrow()) return undefined;
    const connection = pool.idle.pop();
    return connection && this.lend(pool, connection);
  }

  private lend(pool: Pool, connection: PooledConnection): PooledConnection {
    this.idle.delete(connection);
    pool.lent.add(connection);
    return connection;
  }

  private acquire(database: ProjectDatabase): Promise<PooledConnection> {
    const pool = this.poolOf(database);
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
    pool.watch ??= setTimeout(
      () => {
        // Runs after pending I/O events: a busy event loop must not look like a slow database.
        setImmediate(() => this.lookAtWaiting(pool));
      },
      this.starving.has(pool) ? EXPIRY_MS : MOMENT_MS,
    );
  }

  private lookAtWaiting(pool: Pool): void {
    pool.watch = null;
    const now = performance.now();
    while (pool.waiting[0] && pool.waiting[0].until <= now) pool.waiting.shift()?.reject(poolExhausted());
    if (this.starving.has(pool)) this.serveStarving();
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
    if (!this.hasRoomFor(pool, waiter)) {
      if (pool.size === 0) this.starving.add(pool);
      return false;
    }
    this.starving.delete(pool);
    pool.size += 1;
    this.open += 1;
    const connection = new PooledConnection(waiter.database);
    this.owners.set(connection, pool);
    connection.onLost = () => this.dropIdle(pool, connection);
    const project = waiter.database.key;
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
    return true;
  }

  /** Whether the global limit allows another connection; closes an idle one if that makes room. */
  private hasRoomFor(pool: Pool, waiter: Waiter): boolean {
    const { total } = this.limits;
    const waited = performance.now() - waiter.since;
    const isFirst = pool.size === 0;
    if (!isFirst && this.starving.size > 0) return false;
    if (!isFirst && this.open >= total * PLENTY_SHARE && waited < PATIENCE_MS) return false;
    if (this.open < total) return true;
    const mayTakeAny = isFirst || waited > PRESSING_MS;
    const victim = this.idle.spare(Math.max(1, pool.size)) ?? (mayTakeAny ? this.idle.oldest() : undefined);
    const owner = victim && this.owners.get(victim);
    if (!victim || !owner) return false;
    this.dropIdle(owner, victim);
    return true;
  }

  private refusal(database: ProjectDatabase, error: Error & { code?: string }): Error {
    if (!REFUSED.has(error.code ?? '')) return error;
    this.onRefused(database);
    return loginRefused(error);
  }

  private release(connection: PooledConnection): void {
    const pool = this.owners.get(connection);
    if (!pool) return;
    pool.lent.delete(connection);
    this.streams.delete(connection);
    if (connection.broken || pool.closed || this.mustYield(pool, connection)) {
      void this.discard(pool, connection);
      this.serveStarving();
      this.serve(pool);
      return;
    }
    // The connection that listened before was closed.
    if (!pool.listener?.listening) void pool.listener?.adopt(connection);
    this.idle.add(connection);
    pool.idle.push(connection);
    if (pool.waiting.length > 0) this.serve(pool);
    if (this.starving.size > 0) this.serveStarving();
  }

  /** Whether a connection that is given back goes to another project, although requests of its own project wait. */
  private mustYield(pool: Pool, { openSince }: PooledConnection): boolean {
    if (this.starving.size === 0 || pool.waiting.length === 0) return false;
    return pool.size > 1 || openSince < performance.now() - TENURE_MS;
  }

  /** Opens connections for projects that have none, as far as the global limit allows. */
  private serveStarving(): void {
    for (const pool of this.starving) {
      if (pool.waiting.length === 0) this.starving.delete(pool);
      else if (!this.openFor(pool)) return;
      else this.watchSoon(pool);
    }
  }

  /** The pool is no longer starving, so its requests may have to be looked at sooner. */
  private watchSoon(pool: Pool): void {
    if (pool.watch) clearTimeout(pool.watch);
    pool.watch = null;
    this.pollWaiting(pool);
  }

  private dropIdle(pool: Pool, connection: PooledConnection): void {
    const index = pool.idle.indexOf(connection);
    if (index < 0) return;
    pool.idle.splice(index, 1);
    void this.discard(pool, connection);
  }

  private async discard(pool: Pool, connection: PooledConnection): Promise<void> {
    if (!this.owners.delete(connection)) return;
    this.idle.delete(connection);
    pool.listener?.leave(connection);
    pool.size -= 1;
    this.open -= 1;
    connection.onLost = () => undefined;
    await connection.close();
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
