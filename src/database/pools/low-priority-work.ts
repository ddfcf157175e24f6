/** Work on a project's database that no request waits for: it waits for a connection that no request needs, and opens none. */
import type { PooledConnection } from './pooled-connection';

interface LowPriorityWaiter {
  resolve(connection: PooledConnection): void;
  reject(error: Error): void;
  /** Milliseconds of the monotonic clock. */
  readonly since: number;
}

/** Milliseconds after which it no longer lets requests go first: there may always be some. */
const WAIT_TIMEOUT_MS = 1_000;

export class LowPriorityWork {
  /** Connections in use by such work. */
  inUse = 0;
  private readonly waiting: LowPriorityWaiter[] = [];

  get isWaiting(): boolean {
    return this.waiting.length > 0;
  }

  /** Resolves with a connection that lend() was given. */
  wait(): Promise<PooledConnection> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject, since: performance.now() });
    });
  }

  /** Whether the next free connection is for this work. @param hasRequests requests wait for one too */
  isNext(hasRequests: boolean): boolean {
    const [first] = this.waiting;
    return first !== undefined && (!hasRequests || performance.now() - first.since > WAIT_TIMEOUT_MS);
  }

  lend(connection: PooledConnection): void {
    this.waiting.shift()?.resolve(connection);
  }

  refuse(error: () => Error): void {
    for (const waiter of this.waiting.splice(0)) waiter.reject(error());
  }
}
