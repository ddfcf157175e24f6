/** Limits concurrent work, with a bounded queue. */

interface Waiting {
  readonly enter: () => void;
}

export class Slots {
  private free: number;
  private readonly line: Waiting[] = [];

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
    return this.line.length;
  }

  /** True when further work would be refused. */
  get isFull(): boolean {
    return this.free === 0 && this.line.length >= this.maxWaiting;
  }

  /**
   * Runs work in a slot, first come, first served.
   * @param whenFull creates the error for a full queue
   */
  async use<T>(work: () => Promise<T>, whenFull: () => Error): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else {
      if (this.line.length >= this.maxWaiting) throw whenFull();
      await new Promise<void>((enter) => this.line.push({ enter }));
    }
    try {
      return await work();
    } finally {
      // The slot passes directly to the next in the queue, so that new work cannot take it.
      const next = this.line.shift();
      if (next) next.enter();
      else this.free += 1;
    }
  }
}
