/**
 * Detects PostgreSQL servers that do not answer at all (silence.ts). The requests of their projects would hold the connections
 * that all servers share.
 */
import { answers } from './one-off-connection';
import type { PooledConnection } from './pooled-connection';
import { loginConfig, type ProjectDatabase } from './project-database';
import { POLL_MS, QUIET_MS } from './silence';

/** Share of all connections that one server may have while others are in use. */
const SERVER_SHARE = 3 / 4;

export class ServerWatch {
  /** Called when a server does not answer; its connections are already closed. */
  onSilent: (isThere: (database: ProjectDatabase) => boolean) => void = () => undefined;
  private readonly servers = new Map<string, WatchedServer>();
  private readonly timer: NodeJS.Timeout;

  /** @param total connections to all servers */
  constructor(private readonly total: number) {
    this.timer = setInterval(() => this.check(), POLL_MS).unref();
  }

  close(): void {
    clearInterval(this.timer);
  }

  /** True while a server does not answer: its requests are refused immediately. */
  isSilent(database: ProjectDatabase): boolean {
    return this.servers.get(nameOf(database))?.isSilent ?? false;
  }

  /** False for a server that has its share of the connections, if there are others. */
  mayOpen(database: ProjectDatabase): boolean {
    const server = this.serverOf(database);
    if (this.servers.size === 1) return true;
    return !server.isSilent && server.connections.size < Math.max(1, Math.floor(this.total * SERVER_SHARE));
  }

  /** Called when a connection is being opened. */
  add(connection: PooledConnection): void {
    const server = this.serverOf(connection.database);
    server.connections.add(connection);
    connection.server = server;
    connection.awaitedSince = performance.now();
  }

  delete(connection: PooledConnection): void {
    this.serverOf(connection.database).connections.delete(connection);
  }

  /** Never removed, as there are few servers. Includes servers that cannot get a connection because of another server. */
  private serverOf(database: ProjectDatabase): WatchedServer {
    const name = nameOf(database);
    let server = this.servers.get(name);
    if (!server) this.servers.set(name, (server = new WatchedServer()));
    return server;
  }

  private check(): void {
    const quietSince = performance.now() - QUIET_MS;
    for (const [name, server] of this.servers) {
      const awaited = server.isSilent ? server.lastAwaited : server.awaitedBefore(quietSince);
      if (!awaited || server.isProbed) continue;
      server.lastAwaited = awaited;
      server.isProbed = true;
      void this.probe(name, server, awaited);
    }
  }

  private async probe(name: string, server: WatchedServer, database: ProjectDatabase): Promise<void> {
    const isThere = await answers(loginConfig(database));
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
  /** Open connections, and connections being opened. */
  readonly connections = new Set<PooledConnection>();
  /** Milliseconds of the monotonic clock. */
  heardAt = performance.now();
  isSilent = false;
  isProbed = false;
  lastAwaited: ProjectDatabase | undefined;

  /** A database that has owed an answer since before that time, if its server has sent nothing since then. */
  awaitedBefore(time: number): ProjectDatabase | undefined {
    if (this.heardAt > time) return undefined;
    for (const { awaitedSince, database } of this.connections)
      if (awaitedSince !== null && awaitedSince < time) return database;
    return undefined;
  }
}

const nameOf = ({ host, port }: ProjectDatabase): string => `${host}:${port}`;
