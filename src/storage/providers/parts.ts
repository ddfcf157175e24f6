/** Cuts a source into parts of one size, in memory that is used again: what comes in leaves no garbage of that size behind. */
import { giveBack } from './source-head';

/**
 * While one part is used the next one is read, so two are held.
 * @param size bytes of each part but the last, which may be smaller; an empty source has none
 * @returns parts, each good until the next one is asked for
 */
export async function* partsOf(source: AsyncIterator<Buffer>, size: number): AsyncGenerator<Buffer> {
  const filler = new Filler(source);
  const memory = [Buffer.allocUnsafeSlow(size), Buffer.allocUnsafeSlow(size)] as const;
  try {
    let next = filler.fill(memory[0]);
    for (let number = 1; ; number += 1) {
      const part = await next;
      if (part.length < size) {
        if (part.length > 0) yield part;
        return;
      }
      next = filler.fill(memory[number % 2 === 0 ? 0 : 1]);
      // Who asks for the part is told; who stops before does not care.
      next.catch(() => undefined);
      yield part;
    }
  } finally {
    filler.stop();
  }
}

class Filler {
  /** Of the last chunk, what had no room. */
  private rest: Buffer = Buffer.alloc(0);

  constructor(private readonly source: AsyncIterator<Buffer>) {}

  /** @returns the memory, or its beginning when the source ends before it is full */
  async fill(memory: Buffer): Promise<Buffer> {
    let filled = this.take(memory, 0);
    while (filled < memory.length) {
      const step = await this.source.next();
      if (step.done) return memory.subarray(0, filled);
      this.rest = step.value;
      filled += this.take(memory, filled);
    }
    return memory;
  }

  stop(): void {
    giveBack(this.source);
  }

  private take(memory: Buffer, at: number): number {
    const taken = this.rest.copy(memory, at);
    this.rest = this.rest.subarray(taken);
    return taken;
  }
}
