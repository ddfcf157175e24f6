/**
 * Limits concurrent work, with a bounded queue that tenants share: they take turns, and a full queue makes room for the tenant
 * that has less in it. A flood of one tenant therefore delays and refuses its own work.
 */

interface Waiting {
  readonly enter: () => void;
  readonly refuse: () => void;
}

interface TenantLimits {
  /** Maximum number of concurrent tasks of one tenant. */
  readonly perTenant: number;
  /** Milliseconds that a task waits before it is refused. */
  readonly waitTimeoutMs: number;
}

export class Slots {
  private free: number;
  /** Running work of each tenant. */
  private readonly running = new Map<string, number>();
  /** Work of each tenant in order of arrival. The first tenant is next. */
  private readonly lines = new Map<string, Waiting[]>();
  private count = 0;

  /**
   * @param size limit for concurrent tasks
   * @param maxWaiting limit for tasks in the queue; further tasks are refused
   */
  constructor(
    size: number,
    private readonly maxWaiting: number,
    private readonly limits: TenantLimits = { perTenant: Infinity, waitTimeoutMs: Infinity },
  ) {
    this.free = size;
  }

  get waiting(): number {
    return this.count;
  }

  /** True when further work of the tenant would be refused. */
  isFull(tenant = ''): boolean {
    const mayWait = this.count < this.maxWaiting || this.lineWithMoreThan(tenant) !== undefined;
    return !this.mayRun(tenant) && !mayWait;
  }

  /**
   * Runs work in a slot. Tenants take turns; the work of one tenant runs in order of arrival.
   * @param whenFull creates the error for a full queue, also for work that has to leave it
   * @param abandoned aborted when nobody waits for the work any more
   */
  async use<T>(
    work: () => Promise<T>,
    whenFull: () => Error,
    tenant = '',
    abandoned?: AbortSignal,
  ): Promise<T> {
    if (this.mayRun(tenant)) this.take(tenant);
    else await this.wait(tenant, whenFull, abandoned);
    try {
      return await work();
    } finally {
      this.free += 1;
      const others = (this.running.get(tenant) ?? 1) - 1;
      if (others > 0) this.running.set(tenant, others);
      else this.running.delete(tenant);
      // The slot passes directly to the next task in the queue, so that new work cannot take it.
      this.enterNext();
    }
  }

  private mayRun(tenant: string): boolean {
    return this.free > 0 && (this.running.get(tenant) ?? 0) < this.limits.perTenant;
  }

  private take(tenant: string): void {
    this.free -= 1;
    this.running.set(tenant, (this.running.get(tenant) ?? 0) + 1);
  }

  private wait(tenant: string, whenFull: () => Error, abandoned?: AbortSignal): Promise<void> {
    if (abandoned?.aborted || this.isFull(tenant)) throw whenFull();
    if (this.count >= this.maxWaiting) this.lineWithMoreThan(tenant)?.at(-1)?.refuse();
    return new Promise((resolve, reject) => {
      const leave = (): Waiting[] => {
        clearTimeout(timer);
        abandoned?.removeEventListener('abort', waiting.refuse);
        this.count -= 1;
        const line = this.lines.get(tenant) ?? [];
        line.splice(line.indexOf(waiting), 1);
        if (line.length === 0) this.lines.delete(tenant);
        return line;
      };
      const waiting: Waiting = {
        enter: () => {
          const line = leave();
          // This tenant's next turn comes after the turns of the others.
          if (this.lines.delete(tenant)) this.lines.set(tenant, line);
          this.take(tenant);
          resolve();
        },
        refuse: () => {
          leave();
          reject(whenFull());
        },
      };
      const { waitTimeoutMs } = this.limits;
      const timer = waitTimeoutMs === Infinity ? undefined : setTimeout(waiting.refuse, waitTimeoutMs);
      abandoned?.addEventListener('abort', waiting.refuse);
      const line = this.lines.get(tenant);
      if (line) line.push(waiting);
      else this.lines.set(tenant, [waiting]);
      this.count += 1;
    });
  }

  private enterNext(): void {
    for (const [tenant, [first]] of this.lines) {
      if (!this.mayRun(tenant)) continue;
      first?.enter();
      return;
    }
  }

  /** The longest queue, if it is longer than the tenant's queue would be with one more task. */
  private lineWithMoreThan(tenant: string): Waiting[] | undefined {
    let longest: Waiting[] = [];
    for (const line of this.lines.values()) if (line.length > longest.length) longest = line;
    return longest.length > (this.lines.get(tenant)?.length ?? 0) + 1 ? longest : undefined;
  }
}
