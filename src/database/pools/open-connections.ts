/** The connections to all projects' databases: opens them, counts them under the global limit, and closes them. */
import { formatHost, type HostAddress } from '../../pg-pipeline';
import { CpuShares } from '../../admission/cpu-shares';
import { isDatabaseClosed, isLoginRefused, loginRefused, poolExhausted } from './pool.errors';
import type { Pool, PoolLimits } from './pool';
import { PooledConnection } from './pooled-connection';
import { PLATFORM_SERVER, type ProjectDatabase } from './project-database';
import { ServerWatch } from './server-watch';
import { Streams } from '../../admission/streams';

/** Milliseconds without use after which a project probably does not need its connection in the next moment. */
const RECENT_MS = 15_000;

class IdleConnections {
  /** In the order in which they became idle. */
  private readonly connections = new Set<PooledConnection>();

  /** @param sizeOf number of connections of the project that a connection belongs to */
  constructor(private readonly sizeOf: (connection: PooledConnection) => number) {}

  add(connection: PooledConnection): void {
    connection.idleSince = performance.now();
    this.connections.add(connection);
  }

  delete(connection: PooledConnection): void {
    this.connections.delete(connection);
  }

  /** The connections that were idle before a moment of the monotonic clock. */
  *idleBefore(moment: number): Iterable<PooledConnection> {
    for (const connection of this.connections) {
      if (connection.idleSince >= moment) return;
      yield connection;
    }
  }

  /**
   * The longest idle connection that its project can spare: the project has more than `kept`, or was not used for a while.
   * Starting a connection costs as much as some hundred requests, so two busy projects must not close each other's
   * connections.
   */
  dispensable(kept: number): PooledConnection | undefined {
    const before = performance.now() - RECENT_MS;
    for (const connection of this.connections)
      if (connection.idleSince < before || this.sizeOf(connection) > kept) return connection;
    return undefined;
  }

  /** The longest idle connection. */
  oldest(): PooledConnection | undefined {
    return this.connections.values().next().value;
  }
}

/** Shares of the connections that streamed responses may hold, in all and for one client. */
const STREAMING_SHARE = 3 / 4;
const CLIENT_SHARE = 2 / 3;

export interface ConnectionHooks {
  /** Called when a server refuses a project's login role. */
  readonly onRefused: (database: ProjectDatabase) => void;
  /** Called when a server has no such database, or the database accepts no connections. */
  readonly onClosed: (database: ProjectDatabase) => void;
  /** PgBouncers, by the name of their server. New connections are made through them. */
  readonly poolers: ReadonlyMap<string, HostAddress>;
}

export class OpenConnections {
  readonly idle = new IdleConnections((connection) => this.poolOf(connection)?.size ?? 0);
  readonly servers: ServerWatch;
  readonly streams: Streams;
  private readonly pools = new WeakMap<PooledConnection, Pool>();
  private readonly cpu: CpuShares<PooledConnection> | null;
  private count = 0;

  constructor(
    { total, perProject, stalledMs, sharedCores }: PoolLimits,
    private readonly hooks: ConnectionHooks,
  ) {
    this.servers = new ServerWatch(total);
    this.cpu = sharedCores === undefined ? null : new CpuShares(sharedCores);
    const ofProject = shareOf(perProject, STREAMING_SHARE);
    this.streams = new Streams({
      total: shareOf(total, STREAMING_SHARE),
      perProject: ofProject,
      perClient: shareOf(ofProject, CLIENT_SHARE),
      stalledMs,
    });
  }

  /** Open or opening connections. */
  get size(): number {
    return this.count;
  }

  /** The pool of an open or opening connection. */
  poolOf(connection: PooledConnection): Pool | undefined {
    return this.pools.get(connection);
  }

  /**
   * Opens a connection, which counts immediately.
   * @returns the connection when it can be used
   * @throws DatabaseFault login_refused, or the driver's error; the connection then no longer counts
   */
  async start(pool: Pool, database: ProjectDatabase): Promise<PooledConnection> {
    const connection = this.create(pool, database);
    try {
      await connection.connect();
    } catch (error) {
      void this.discard(pool, connection);
      throw this.refusal(database, error as Error);
    }
    connection.openSince = performance.now();
    // Reads the schema only after LISTEN, so that no change is missed in between.
    await pool.listener?.adopt(connection);
    return connection;
  }

  /** Closes a connection and forgets it. */
  async discard(pool: Pool, connection: PooledConnection): Promise<void> {
    if (!this.pools.delete(connection)) return;
    this.idle.delete(connection);
    pool.listener?.leave(connection);
    this.servers.delete(connection);
    pool.size -= 1;
    this.count -= 1;
    if (pool.size === 0) pool.lowPriority.refuse(poolExhausted);
    connection.onLost = () => undefined;
    await connection.close();
  }

  /** Closes a connection unless it is in use. */
  dropIdle(connection: PooledConnection): void {
    const pool = this.poolOf(connection);
    if (pool?.removeIdle(connection)) void this.discard(pool, connection);
  }

  /** Closes connections that were idle for this long. @param milliseconds */
  closeIdle(milliseconds: number): void {
    for (const connection of this.idle.idleBefore(performance.now() - milliseconds))
      this.dropIdle(connection);
  }

  /** Lowers the priority of projects that take much of the machine (cpu-shares.ts). @param pools the pools of all projects */
  checkCpu(pools: Iterable<Pool>): void {
    if (!this.cpu) return;
    for (const connection of this.cpu.check([...pools])) this.dropIdle(connection);
  }

  /** Whether a connection that is given back has to be closed. */
  isUnwanted(pool: Pool, connection: PooledConnection): boolean {
    return connection.broken || pool.closed || (this.cpu?.isOver(pool, connection) ?? false);
  }

  private create(pool: Pool, database: ProjectDatabase): PooledConnection {
    const connection = new PooledConnection(database, this.poolerOf(database));
    pool.size += 1;
    this.count += 1;
    this.pools.set(connection, pool);
    if (database.server === PLATFORM_SERVER && !database.isReplica) this.cpu?.add(connection);
    this.servers.add(connection);
    connection.onLost = () => this.dropIdle(connection);
    const project = database.key;
    connection.onStream = (client, end) => this.streams.begin({ connection, project, client, end });
    return connection;
  }

  /** The PgBouncer through which the database is reached; undefined without one. */
  private poolerOf({ server, isReplica }: ProjectDatabase): HostAddress | undefined {
    return server === undefined || isReplica ? undefined : this.hooks.poolers.get(server);
  }

  private refusal(database: ProjectDatabase, error: Error & { code?: string }): Error {
    // A replica has databases, roles and passwords from its primary, a moment later.
    if (database.isReplica) return error;
    if (isDatabaseClosed(error)) {
      this.hooks.onClosed(database);
      return loginRefused(error);
    }
    if (!isLoginRefused(error)) return error;
    this.hooks.onRefused(database);
    return loginRefused(error);
  }
}

/** Whether a connection leads to a server. @param isReplica whether it was made as to a replica, or as to a primary */
export function leadsTo(connection: PooledConnection, host: HostAddress, isReplica: boolean): boolean {
  const { address, database } = connection;
  return formatHost(address) === formatHost(host) && (database.isReplica ?? false) === isReplica;
}

/** At least one, but not all if there are several. */
function shareOf(connections: number, share: number): number {
  return Math.max(1, Math.floor(connections * share));
}
