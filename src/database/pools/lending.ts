/**
 * How many connections of a pool should be at work at once. Where PostgreSQL shares few cores with this process, more
 * backends do not answer more: each costs its own cold caches and context switches (docs/performance.md). So only a few
 * are lent freely. One that takes longer than a moment waits for something else than a core, a lock, the disk or a
 * client, and does not count: slow statements never keep quick ones waiting for longer than that.
 */

/** Milliseconds after which a borrower is taken for slow; also how often a pool looks after those who wait. */
export const MOMENT_MS = 2;

export class Lending<T> {
  /** Milliseconds of the monotonic clock at which each was lent. */
  private readonly since = new Map<T, number>();

  /** @param freely how many quick borrowers there may be at once */
  constructor(private readonly freely: number) {}

  add(borrowed: T): void {
    this.since.set(borrowed, performance.now());
  }

  delete(borrowed: T): void {
    this.since.delete(borrowed);
  }

  get size(): number {
    return this.since.size;
  }

  /** @param promised to be lent as soon as they are open, besides those that were lent */
  mayGrow(promised = 0): boolean {
    const free = this.freely - promised;
    return this.since.size < free || this.quick() < free;
  }

  private quick(): number {
    const slowSince = performance.now() - MOMENT_MS;
    let quick = 0;
    for (const since of this.since.values()) if (since > slowSince) quick += 1;
    return quick;
  }
}
