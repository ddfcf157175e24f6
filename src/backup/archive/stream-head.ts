/** Reads the beginning of a stream, which tells its format, and continues from there. */

/** Reads at least this many bytes, unless the stream is shorter. */
export async function readHead(chunks: AsyncIterator<Buffer>, bytes: number): Promise<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  while (head.length < bytes) {
    const next = await chunks.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  return head;
}

export async function* continued(
  head: Buffer,
  chunks: AsyncIterator<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  try {
    yield head;
    for (;;) {
      const next = await chunks.next();
      if (next.done) return;
      yield next.value;
    }
  } finally {
    await chunks.return?.();
  }
}
