/** The beginning of a source of unknown length: small ones are known whole, and can be sent in one go. */

export interface SourceHead {
  readonly chunks: Buffer[];
  /** The source ended within the head. */
  readonly isWhole: boolean;
  /** All of the source; once. */
  andRest(): AsyncGenerator<Buffer>;
}

/** Reads until there is more than `limit` bytes, or no more. */
export async function readHead(source: AsyncIterator<Buffer>, limit: number): Promise<SourceHead> {
  const chunks: Buffer[] = [];
  let size = 0;
  let isWhole = false;
  while (size <= limit && !isWhole) {
    const step = await source.next();
    if (step.done) isWhole = true;
    else {
      chunks.push(step.value);
      size += step.value.length;
    }
  }
  return {
    chunks,
    isWhole,
    async *andRest() {
      try {
        // Emptied on the way, so that the head is not held as long as the rest takes.
        for (let chunk = chunks.shift(); chunk; chunk = chunks.shift()) yield chunk;
        for (let step = await source.next(); !step.done; step = await source.next()) yield step.value;
      } finally {
        await source.return?.();
      }
    },
  };
}

/**
 * Ends a source that was begun and may not have been read to its end; no harm when it was. Does not wait: a source that is
 * being read ends when its sender does, and what it says to this, nobody asked for.
 */
export function giveBack(source: AsyncIterator<Buffer>): void {
  source.return?.().catch(() => undefined);
}
