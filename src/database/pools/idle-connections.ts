/** The idle connections of all projects, and which of them is closed when another project needs one. */
import type { PooledConnection } from './pooled-connection';

/** Milliseconds without use after which a project probably does not need its connection in the next moment. */
const RECENT_MS = 15_000;

export class IdleConnections {
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
   * The longest idle connection that its project can spare: the project has more than `kept`, or was not used for a while. A start of a
   * connection costs as much as some hundred requests, so two projects in steady use must not close each other's.
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
