/** Splits a source into parts of equal size, in two buffers that are reused, so that large parts leave no garbage. */
import { endSource } from './source-head';

/**
 * Reads the next part while the consumer uses the current one, so two parts are held in memory.
 * @param size bytes of each part; the last part may be smaller. An empty source has no parts.
 * @returns parts, each of which is valid until the next part is requested
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
      // Rethrown when the part is requested. A consumer that stops earlier does not need the error.
      next.catch(() => undefined);
      yield part;
    }
  } finally {
    filler.stop();
  }
}

class Filler {
  /** The rest of the last chunk, which did not fit into the part. */
  private rest: Buffer = Buffer.alloc(0);

  constructor(private readonly source: AsyncIterator<Buffer>) {}

  /** @returns the buffer, or its beginning when the source ends before it is full */
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
    endSource(this.source);
  }

  private take(memory: Buffer, at: number): number {
    const taken = this.rest.copy(memory, at);
    this.rest = this.rest.subarray(taken);
    return taken;
  }
}
