/**
 * Notices PostgreSQL servers that do not answer at all, such as servers in a network that drops packets. The system would
 * notice after a quarter of an hour; until then the requests of their projects would hold the connections that all servers
 * share.
 */
import { DatabaseError } from 'pg';
import { withBoundedConnection } from './one-off-connection';
import type { PooledConnection } from './pooled-connection';
import { loginConfig, type ProjectDatabase } from './project-database';

const POLL_INTERVAL_MS = 1_000;
/** Milliseconds without data from a server, while an answer is due, after which it is probed. */
const QUIET_MS = 3_000;
/** Milliseconds that it has to answer that. */
const PROBE_MS = 3_000;
/** Milliseconds by which the end of a probe may be late, else this process was busy. */
const LATE_MS = 2_000;
/** Share of all connections that one server may have while others are in use. */
const SERVER_SHARE = 3 / 4;

export class ServerWatch {
  /** Called when a server does not answer; its connections are closed already. */
  onSilent: (isThere: (database: ProjectDatabase) => boolean) => void = () => undefined;
  private readonly servers = new Map<string, WatchedServer>();
  private readonly timer: NodeJS.Timeout;

  /** @param total connections to all servers */
  constructor(private readonly total: number) {
    this.timer = setInterval(() => this.check(), POLL_INTERVAL_MS).unref();
  }

  close(): void {
    clearInterval(this.timer);
  }

  /** True while a server does not answer: its requests are refused at once. */
  isSilent(database: ProjectDatabase): boolean {
    return this.servers.get(nameOf(database))?.isSilent ?? false;
  }

  /** False for a server that has its share of the connections, if there are others. */
  mayOpen(database: ProjectDatabase): boolean {
    const server = this.serverOf(database);
    if (this.servers.size === 1) return true;
    return !server.isSilent && server.connections.size < Math.max(1, Math.floor(this.total * SERVER_SHARE));
  }

  /** A connection is being opened. */
  add(connection: PooledConnection): void {
    const server = this.serverOf(connection.database);
    server.connections.add(connection);
    connection.server = server;
    connection.awaitedSince = performance.now();
  }

  delete(connection: PooledConnection): void {
    this.serverOf(connection.database).connections.delete(connection);
  }

  /** Never removed, as there are few servers. A server that cannot get a connection because of another server counts, too. */
  private serverOf(database: ProjectDatabase): WatchedServer {
    const name = nameOf(database);
    let server = this.servers.get(name);
    if (!server) this.servers.set(name, (server = new WatchedServer()));
    return server;
  }

  private check(): void {
    const quietSince = performance.now() - QUIET_MS;
    for (const [name, server] of this.servers) {
      const awaited = server.isSilent ? server.lastAwaited : this.awaitedOf(server, quietSince);
      if (!awaited || server.isProbed) continue;
      server.lastAwaited = awaited;
      server.isProbed = true;
      void this.probe(name, server, awaited);
    }
  }

  /** A database of a server that may be unreachable. With a single server there are no others to protect. */
  private awaitedOf(server: WatchedServer, quietSince: number): ProjectDatabase | undefined {
    if (this.servers.size < 2 || server.heardAt > quietSince) return undefined;
    return server.awaitedBefore(quietSince);
  }

  private async probe(name: string, server: WatchedServer, database: ProjectDatabase): Promise<void> {
    const since = performance.now();
    // A busy event loop must not look like a silent server.
    const isThere = (await answers(database)) || performance.now() - since > PROBE_MS + LATE_MS;
    server.isProbed = false;
    if (isThere) {
      server.isSilent = false;
      server.heardAt = performance.now();
      return;
    }
    server.isSilent = true;
    for (const connection of server.connections) connection.disconnect();
    this.onSilent((other) => nameOf(other) === name);
  }
}

class WatchedServer {
  /** Open or being opened. */
  readonly connections = new Set<PooledConnection>();
  /** Milliseconds of the monotonic clock. */
  heardAt = performance.now();
  isSilent = false;
  isProbed = false;
  lastAwaited: ProjectDatabase | undefined;

  /** A database from which something has been awaited since before that time. */
  awaitedBefore(time: number): ProjectDatabase | undefined {
    for (const { awaitedSince, database } of this.connections)
      if (awaitedSince !== null && awaitedSince < time) return database;
    return undefined;
  }
}

/** True also for a server that refuses the connection. */
async function answers(database: ProjectDatabase): Promise<boolean> {
  const config = {
    ...loginConfig(database),
    connectionTimeoutMillis: PROBE_MS,
    query_timeout: PROBE_MS / 3,
    application_name: 'plinth-probe',
  };
  try {
    await withBoundedConnection(config, (client) => client.query('select 1'));
    return true;
  } catch (error) {
    return error instanceof DatabaseError;
  }
}

const nameOf = ({ host, port }: ProjectDatabase): string => `${host}:${port}`;
