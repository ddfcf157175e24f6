/**
 * Limits how many connections of a pool work at once. When PostgreSQL shares few cores with this process, more
 * backends do not increase throughput: each has cold caches and adds context switches. A connection in use for
 * longer than MOMENT_MS probably waits for a lock, the disk or a client, not for a core, and does not count.
 * Slow statements therefore delay quick statements by no more than that.
 */

/**
 * Milliseconds after which a connection in use counts as slow. Also the interval at which waiting requests are
 * served.
 */
export const MOMENT_MS = 2;

export class ConcurrencyLimiter<T> {
  /** When each connection was lent, in milliseconds of the monotonic clock. */
  private readonly since = new Map<T, number>();

  /** @param limit the number of quick connections in use at once */
  constructor(private readonly limit: number) {}

  add(borrowed: T): void {
    this.since.set(borrowed, performance.now());
  }

  delete(borrowed: T): void {
    this.since.delete(borrowed);
  }

  /** Milliseconds for which a connection has been in use; 0 if it is not. */
  heldFor(borrowed: T): number {
    const since = this.since.get(borrowed);
    return since === undefined ? 0 : performance.now() - since;
  }

  borrowed(): Iterable<T> {
    return this.since.keys();
  }

  get size(): number {
    return this.since.size;
  }

  /** @param promised connections that will be lent as soon as they are open */
  mayGrow(promised = 0): boolean {
    const free = this.limit - promised;
    return this.since.size < free || this.quick() < free;
  }

  private quick(): number {
    const slowSince = performance.now() - MOMENT_MS;
    let quick = 0;
    for (const since of this.since.values()) if (since > slowSince) quick += 1;
    return quick;
  }
}
