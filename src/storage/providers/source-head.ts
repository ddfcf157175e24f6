/** Reads the beginning of a source of unknown length, so that a small file can be sent in one request. */

export interface SourceHead {
  readonly chunks: Buffer[];
  /** True if the source ended within the head. */
  readonly isWhole: boolean;
  /** The whole source; may be called only once. */
  fullStream(): AsyncGenerator<Buffer>;
}

/** Reads until there are more than `limit` bytes, or the source ends. */
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
    async *fullStream() {
      try {
        // Emptied while it is sent, so that the head does not stay in memory until the end of the source.
        for (let chunk = chunks.shift(); chunk; chunk = chunks.shift()) yield chunk;
        for (let step = await source.next(); !step.done; step = await source.next()) yield step.value;
      } finally {
        await source.return?.();
      }
    },
  };
}

/**
 * Ends a source that may not have been read to its end. Does not wait, because a pending read ends only when the client sends
 * more or disconnects; errors are ignored, because the caller throws its own.
 */
export function endSource(source: AsyncIterator<Buffer>): void {
  source.return?.().catch(() => undefined);
}
