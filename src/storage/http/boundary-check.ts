/**
 * Whether each delimiter of a form is followed by what must follow it: a line's end, or the two hyphens of the last one
 * (RFC 2046, 5.1.1). busboy takes a delimiter for one whatever follows: a file with a line that only begins like it would
 * be stored without its rest, and a field with blanks behind its delimiter would be left out.
 */

const CRLF = Buffer.from('\r\n');
const HYPHENS = Buffer.from('--');

export class BoundaryCheck {
  /** The end of what came so far, too short for a delimiter that was looked at. The first one of a form needs no line before it. */
  private tail = CRLF;
  private isOver = false;

  constructor(private readonly delimiter: Buffer) {}

  /** @returns false for a form that nobody should have sent */
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
