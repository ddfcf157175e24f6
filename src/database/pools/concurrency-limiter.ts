/**
 * Limits how many connections of a pool work at once. Where PostgreSQL shares few cores with this process, more backends do
 * not answer more: each has cold caches and costs context switches. A connection that works for longer than a moment is
 * likely to wait for a lock, the disk or a client rather than for a core, and does not count. So slow statements delay quick
 * ones by no more than that.
 */

/** Milliseconds after which a borrower counts as slow. Also the interval at which a pool serves waiting requests. */
export const MOMENT_MS = 2;

export class ConcurrencyLimiter<T> {
  /** When each was lent, in milliseconds of the monotonic clock. */
  private readonly since = new Map<T, number>();

  /** @param limit how many quick borrowers there may be at once */
  constructor(private readonly limit: number) {}

  add(borrowed: T): void {
    this.since.set(borrowed, performance.now());
  }

  delete(borrowed: T): void {
    this.since.delete(borrowed);
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
