/** Distinguishes a failed source from a failed provider: SDKs report both in the same way. */

export class SourceFailure {
  failed = false;
  /** The error of the source. */
  reason: unknown;
}

/** Yields the same chunks, and records errors of the source, but not of its reader. */
export async function* watchSource(
  chunks: AsyncIterable<Buffer>,
  failure: SourceFailure,
): AsyncGenerator<Buffer> {
  const iterator = chunks[Symbol.asyncIterator]();
  try {
    for (;;) {
      const step = await nextOf(iterator, failure);
      if (step.done) return;
      yield step.value;
    }
  } finally {
    await iterator.return?.();
  }
}

async function nextOf(
  iterator: AsyncIterator<Buffer>,
  failure: SourceFailure,
): Promise<IteratorResult<Buffer, unknown>> {
  try {
    return await iterator.next();
  } catch (error) {
    failure.failed = true;
    failure.reason = error;
    throw error;
  }
}
