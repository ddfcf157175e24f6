/**
 * One connection of each project's pool listens on a channel, so that a project in use needs no further connection, and no
 * comparison, to learn of changes of its schema. PostgreSQL delivers notifications between transactions.
 */
import type { PooledConnection } from './pooled-connection';

export class PoolListener {
  private connection: PooledConnection | null = null;
  private heardSince = Infinity;
  private isRefused = false;

  /** @param channel a constant of the code, never text from outside */
  constructor(
    private readonly channel: string,
    private readonly onNotification: () => void,
  ) {}

  /** The connection that listens; null: none. */
  get listening(): PooledConnection | null {
    return this.connection;
  }

  /** Monotonic time in milliseconds since which notifications arrive; Infinity while none arrive. */
  get since(): number {
    return this.heardSince;
  }

  /** Makes an idle connection listen, unless another connection listens. Resolves when it does; never rejects. */
  async adopt(connection: PooledConnection): Promise<void> {
    if (this.connection || this.isRefused || !connection.canListen) return;
    this.connection = connection;
    try {
      await connection.listen(this.channel, () => this.onNotification());
      if (this.connection === connection) this.heardSince = performance.now();
    } catch {
      // A server in recovery refuses LISTEN.
      this.isRefused = !connection.broken;
      this.leave(connection);
    }
  }

  /** Called when the connection is closed. */
  leave(connection: PooledConnection): void {
    if (this.connection !== connection) return;
    this.connection = null;
    this.heardSince = Infinity;
  }
}
