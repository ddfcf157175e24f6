/**
 * Finds the end of a form's file part: CRLF, two hyphens and the boundary (RFC 2046, 5.1.1), in chunks as they arrive. Used for
 * files alone, which are nearly all of a form: Buffer.indexOf() is native, busboy searches in JavaScript.
 */

const CR = 13;

export class BoundarySearch {
  /** Number of bytes at the end of the input that may begin the delimiter. They equal its first bytes, so they are not kept. */
  private held: number;

  /**
   * @param delimiter holds CR as its first byte only, so it can begin nowhere but at a CR
   * @param before the last bytes of the part that were searched elsewhere; at least as long as the delimiter
   */
  constructor(
    private readonly delimiter: Buffer,
    before: Buffer,
  ) {
    this.held = this.beginsAtEndOf(before);
  }

  /**
   * @param onBytes takes the bytes that certainly belong to the part
   * @returns the rest from the delimiter on, or null when it was not found yet
   */
  push(chunk: Buffer, onBytes: (bytes: Buffer) => void): Buffer | null {
    if (this.held > 0) {
      const wanted = this.delimiter.subarray(this.held, this.held + chunk.length);
      if (chunk.subarray(0, wanted.length).equals(wanted)) {
        this.held += wanted.length;
        if (this.held < this.delimiter.length) return null;
        return Buffer.concat([this.delimiter, chunk.subarray(wanted.length)]);
      }
      onBytes(this.delimiter.subarray(0, this.held));
    }
    const end = chunk.indexOf(this.delimiter);
    this.held = end < 0 ? this.beginsAtEndOf(chunk) : 0;
    const own = end < 0 ? chunk.length - this.held : end;
    if (own > 0) onBytes(chunk.subarray(0, own));
    return end < 0 ? null : chunk.subarray(end);
  }

  private beginsAtEndOf(chunk: Buffer): number {
    const last = chunk.subarray(Math.max(0, chunk.length - this.delimiter.length + 1));
    const begin = last.lastIndexOf(CR);
    if (begin < 0) return 0;
    const length = last.length - begin;
    return this.delimiter.subarray(0, length).equals(last.subarray(begin)) ? length : 0;
  }
}
