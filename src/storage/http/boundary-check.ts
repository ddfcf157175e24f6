/**
 * Checks that each delimiter of a form is followed by CRLF, or by two hyphens if it is the last one (RFC 2046, 5.1.1). busboy
 * does not look at what follows: it would end a file at a line that only begins like the delimiter, and drop a field whose
 * delimiter is followed by blanks.
 */

const CRLF = Buffer.from('\r\n');
const HYPHENS = Buffer.from('--');

export class BoundaryCheck {
  /** The last bytes read, in which a delimiter may begin. CRLF at first: no line precedes the first delimiter of a form. */
  private tail = CRLF;
  private isOver = false;

  constructor(private readonly delimiter: Buffer) {}

  /** @returns false when the form is malformed */
  passes(chunk: Buffer): boolean {
    if (this.isOver) return true;
    const { length } = this.delimiter;
    const bytes = Buffer.concat([this.tail, chunk]);
    for (let at = bytes.indexOf(this.delimiter); at >= 0; at = bytes.indexOf(this.delimiter, at + length)) {
      const next = bytes.subarray(at + length, at + length + 2);
      if (next.equals(HYPHENS)) this.isOver = true;
      if (this.isOver || next.length < 2) break;
      if (!next.equals(CRLF)) return false;
    }
    this.tail = Buffer.from(bytes.subarray(Math.max(0, bytes.length - length - 1)));
    return true;
  }
}
