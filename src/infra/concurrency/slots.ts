/** A bounded waiting line before a fixed number of slots. */

interface Waiting {
  readonly enter: () => void;
}

export class Slots {
  private free: number;
  private readonly line: Waiting[] = [];

  /**
   * @param size how much runs at once
   * @param maxWaiting how much may wait; the next is turned away
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

  /** True when the next one would be turned away. */
  get isFull(): boolean {
    return this.free === 0 && this.line.length >= this.maxWaiting;
  }

  /**
   * Runs work in a slot, first come, first served.
   * @param turnedAway makes the error of a full line
   */
  async use<T>(work: () => Promise<T>, turnedAway: () => Error): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else {
      if (this.line.length >= this.maxWaiting) throw turnedAway();
      await new Promise<void>((enter) => this.line.push({ enter }));
    }
    try {
      return await work();
    } finally {
      // The slot passes from hand to hand: a newcomer cannot slip in between.
      const next = this.line.shift();
      if (next) next.enter();
      else this.free += 1;
    }
  }
}
