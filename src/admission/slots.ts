/**
 * Limits concurrent work, with a bounded queue that tenants share: they take turns, and a full queue makes room for the tenant
 * that has less in it. So a flood of one tenant delays and refuses its own work.
 */

interface Waiting {
  readonly enter: () => void;
  readonly refuse: () => void;
}

export class Slots {
  private free: number;
  /** Work of each tenant in order of arrival. The first tenant is next. */
  private readonly lines = new Map<string, Waiting[]>();
  private count = 0;

  /**
   * @param size limit for tasks at once
   * @param maxWaiting limit for tasks in the queue; further ones are refused
   */
  constructor(
    size: number,
    private readonly maxWaiting: number,
  ) {
    this.free = size;
  }

  get waiting(): number {
    return this.count;
  }

  /** True when further work of the tenant would be refused. */
  isFull(tenant = ''): boolean {
    return this.free === 0 && this.count >= this.maxWaiting && this.lineWithMoreThan(tenant) === undefined;
  }

  /**
   * Runs work in a slot. Tenants take turns; the work of one is done first come, first served.
   * @param whenFull creates the error for a full queue, also for work that has to leave it for another tenant's
   */
  async use<T>(work: () => Promise<T>, whenFull: () => Error, tenant = ''): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await this.wait(tenant, whenFull);
    try {
      return await work();
    } finally {
      // The slot passes directly to the next in the queue, so that new work cannot take it.
      const next = this.takeNext();
      if (next) next.enter();
      else this.free += 1;
    }
  }

  private wait(tenant: string, whenFull: () => Error): Promise<void> {
    if (this.isFull(tenant)) throw whenFull();
    if (this.count >= this.maxWaiting) {
      this.count -= 1;
      this.lineWithMoreThan(tenant)?.pop()?.refuse();
    }
    return new Promise((enter, reject) => {
      const line = this.lines.get(tenant) ?? [];
      line.push({ enter, refuse: () => reject(whenFull()) });
      this.lines.set(tenant, line);
      this.count += 1;
    });
  }

  private takeNext(): Waiting | undefined {
    for (const [tenant, line] of this.lines) {
      const next = line.shift();
      this.lines.delete(tenant);
      if (line.length > 0) this.lines.set(tenant, line);
      if (next) this.count -= 1;
      return next;
    }
    return undefined;
  }

  /** The longest line, if the tenant's own will be shorter with one task more. */
  private lineWithMoreThan(tenant: string): Waiting[] | undefined {
    let longest: Waiting[] = [];
    for (const line of this.lines.values()) if (line.length > longest.length) longest = line;
    return longest.length > (this.lines.get(tenant)?.length ?? 0) + 1 ? longest : undefined;
  }
}
