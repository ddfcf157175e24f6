/** The body of a multipart/byteranges response (RFC 9110, 14.6): several ranges of one file. */
import { randomBytes } from 'node:crypto';
import { ByteRange, contentRange } from '../../http/syntax/byte-ranges';

export class MultipartRanges {
  readonly contentType: string;
  /** Bytes of the whole body. */
  readonly length: number;
  private readonly parts: readonly { readonly head: string; readonly range: ByteRange }[];
  private readonly tail: string;

  /** @param type content type of the file @param size bytes of the file */
  constructor(type: string, size: number, ranges: readonly ByteRange[]) {
    const boundary = randomBytes(16).toString('hex');
    this.contentType = `multipart/byteranges; boundary=${boundary}`;
    this.tail = `\r\n--${boundary}--\r\n`;
    this.parts = ranges.map((range) => ({
      head: `\r\n--${boundary}\r\nContent-Type: ${type}\r\nContent-Range: ${contentRange(range, size)}\r\n\r\n`,
      range,
    }));
    this.length = this.parts.reduce(
      (sum, { head, range: { start, end } }) => sum + head.length + end - start + 1,
      this.tail.length,
    );
  }

  /** @param read opens a range of the file */
  async *body(
    read: (range: ByteRange) => Promise<Buffer | AsyncIterable<Buffer>>,
  ): AsyncGenerator<string | Buffer> {
    for (const { head, range } of this.parts) yield* withHead(head, await read(range));
    yield this.tail;
  }
}

/**
 * Requests the first chunk before it yields the head: if a reader stopped at the head, the source would never
 * have been started, and its file or connection would stay open (see ObjectStore.read()).
 */
async function* withHead(
  head: string,
  bytes: Buffer | AsyncIterable<Buffer>,
): AsyncGenerator<string | Buffer> {
  let isFirst = true;
  for await (const chunk of Buffer.isBuffer(bytes) ? [bytes] : bytes) {
    if (isFirst) yield head;
    isFirst = false;
    yield chunk;
  }
}
