/**
 * Finds where a file's part of a form ends: at CRLF, two hyphens and the boundary (RFC 2046, 5.1.1), in chunks as they come.
 * Only for files, which are nearly all of a form: Buffer.indexOf() searches in native code what busboy searches in JavaScript.
 */

const CR = 13;
export class BoundarySearch {
  /** Bytes at the end of what came so far that may begin the delimiter; they are its first ones, so their number tells them. */
  private held: number;

  /**
   * @param delimiter in which CR is the first byte and no other: it can begin only where a CR is
   * @param before the last bytes of the part that were looked at elsewhere, at least as many as the delimiter has
   */
  constructor(
    private readonly delimiter: Buffer,
    before: Buffer,
  ) {
    this.held = this.beginsAtEndOf(before);
  }

  /**
   * Hands on the bytes that are certain to belong to the part.
   * @returns what follows them from the delimiter on, or null while it was not found
   */
  push(chunk: Buffer, hand: (bytes: Buffer) => void): Buffer | null {
    if (this.held > 0) {
      const wanted = this.delimiter.subarray(this.held, this.held + chunk.length);
      if (chunk.subarray(0, wanted.length).equals(wanted)) {
        this.held += wanted.length;
        if (this.held < this.delimiter.length) return null;
        return Buffer.concat([this.delimiter, chunk.subarray(wanted.length)]);
      }
      hand(this.delimiter.subarray(0, this.held));
    }
    const end = chunk.indexOf(this.delimiter);
    this.held = end < 0 ? this.beginsAtEndOf(chunk) : 0;
    const own = end < 0 ? chunk.length - this.held : end;
    if (own > 0) hand(chunk.subarray(0, own));
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
