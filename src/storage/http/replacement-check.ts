/**
 * Whether text of a form came as it is. Decoders put U+FFFD in the place of bytes that are no UTF-8: two names would become
 * one, and a file could take the place of another. Text that holds it is only believed where the form itself holds it.
 */

const CHARACTER = '\ufffd';
/** As bytes, and as RFC 8187 escapes them. */
const WRITTEN = ['\ufffd', '%EF%BF%BD', '%ef%bf%bd'].map((text) => Buffer.from(text));
/** The longest of them but one byte: what may have begun in the chunk before. */
const SEAM = 8;

export class ReplacementCheck {
  private isWritten = false;
  private tail: Buffer = Buffer.alloc(0);

  /** Takes all bytes that text is decoded from, before it is. */
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
