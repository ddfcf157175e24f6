/**
 * Detects text of a form that is not valid UTF-8. busboy's decoder replaces invalid bytes with U+FFFD, so two filenames could
 * become one, and one file replace another. Text with U+FFFD is accepted only when the form itself holds that character.
 */

const CHARACTER = '\ufffd';
/** The character as UTF-8, and escaped as in RFC 8187. */
const WRITTEN = ['\ufffd', '%EF%BF%BD', '%ef%bf%bd'].map((text) => Buffer.from(text));
/** Bytes of the longest one but one: as many may have begun in the previous chunk. */
const SEAM = 8;

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
