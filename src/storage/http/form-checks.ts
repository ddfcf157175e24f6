/** Refuses malformed forms that busboy would misread. */

/**
 * The boundary in the Content-Type header (RFC 9110, 8.3.1 and 5.6.6; RFC 7578, 4.1). Read here, because busboy and the package
 * content-type accept a header with several boundaries, and content-type refuses unquoted boundaries that clients send.
 */
const FORM = /^[ \t]*multipart\/form-data[ \t]*(?=;|$)/i;
/** One parameter, or nothing between two semicolons. Clients also leave out the quotes of values that are not tokens. */
const PARAMETER =
  /;[ \t]*(?:([\w!#$%&'*+.^`|~-]+)=(?:"((?:[\t\x20\x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*)"|([^\s",;]+)))?[ \t]*/y;
const PRINTABLE = /^[\x20-\x7e]+$/;

/** True for multipart/form-data with any parameters. */
export function isForm(contentType: string): boolean {
  return FORM.test(contentType);
}

/** Null if the header has no boundary, has several, or is malformed. */
export function boundaryOf(contentType: string): string | null {
  const boundaries: string[] = [];
  let at = FORM.exec(contentType)?.[0].length ?? 0;
  while (at < contentType.length) {
    PARAMETER.lastIndex = at;
    const match = PARAMETER.exec(contentType);
    if (!match) return null;
    const [all, name = '', quoted, plain = ''] = match;
    if (name.toLowerCase() === 'boundary') boundaries.push(quoted?.replace(/\\(.)/g, '$1') ?? plain);
    at += all.length;
  }
  const [boundary = ''] = boundaries;
  return boundaries.length === 1 && PRINTABLE.test(boundary) ? boundary : null;
}

/** A header that busboy can read in only one way. */
export function formHeader(boundary: string): string {
  return `multipart/form-data; boundary="${boundary.replace(/["\\]/g, '\\$&')}"`;
}

/** The delimiter after each part of a form: CRLF, two hyphens and the boundary (RFC 2046, 5.1.1). */
export function delimiterOf(boundary: string): Buffer {
  return Buffer.from(`\r\n--${boundary}`, 'latin1');
}

const CRLF = Buffer.from('\r\n');
const HYPHENS = Buffer.from('--');

/**
 * Checks that each delimiter of a form is followed by CRLF, or by two hyphens if it is the last one (RFC 2046, 5.1.1). busboy
 * would end a file at a line that only begins like the delimiter, and drop a field whose delimiter is followed by blanks.
 */
export class BoundaryCheck {
  /**
   * The last bytes read, in which a delimiter may begin. Initially CRLF, because no line precedes the first
   * delimiter of a form.
   */
  private tail = CRLF;
  private isOver = false;

  constructor(private readonly delimiter: Buffer) {}

  /** @returns false if the form is malformed */
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

const CHARACTER = '\ufffd';
/** The character as UTF-8, and escaped as in RFC 8187. */
const WRITTEN = ['\ufffd', '%EF%BF%BD', '%ef%bf%bd'].map((text) => Buffer.from(text));
/** One less than the bytes of the longest escaped form: as many may be in the previous chunk. */
const SEAM = 8;

/**
 * Detects text of a form that is not valid UTF-8. busboy's decoder replaces invalid bytes with U+FFFD, so two filenames could
 * become one, and one file replace another. Text with U+FFFD is accepted only if the form itself contains that character.
 */
export class ReplacementCheck {
  private isWritten = false;
  private tail: Buffer = Buffer.alloc(0);

  /** Must see all bytes of the form's text before passes() is called. */
  read(chunk: Buffer): void {
    if (this.isWritten) return;
    const seam = Buffer.concat([this.tail, chunk.subarray(0, SEAM)]);
    this.isWritten = WRITTEN.some((bytes) => chunk.includes(bytes) || seam.includes(bytes));
    this.tail = Buffer.from(chunk.length < SEAM ? seam.subarray(-SEAM) : chunk.subarray(-SEAM));
  }

  passes(text: string): boolean {
    return this.isWritten || !text.includes(CHARACTER);
  }
}
