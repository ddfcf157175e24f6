/** Tells an upload that its sender broke from one that the provider refused: SDKs report both alike. */

export class SourceFailure {
  failed = false;
  /** What the source threw. */
  reason: unknown;
}

/** The same chunks; notes what the source throws, and not what its reader throws into it. */
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
