/** The body of a multipart/byteranges response (RFC 9110, 14.6): several ranges of one file. */
import { randomBytes } from 'node:crypto';
import { ByteRange, contentRange } from '../../common/http/byte-ranges';

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
    for (const { head, range } of this.parts) {
      const bytes = await read(range);
      yield head;
      if (Buffer.isBuffer(bytes)) yield bytes;
      else yield* bytes;
    }
    yield this.tail;
  }
}
