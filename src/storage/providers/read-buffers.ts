/**
 * Buffers that bytes pass through on their way out, used again and again: fresh ones for every chunk cost more, in page
 * faults and garbage, than reading and sending do (docs/performance.md). Only so many are kept; who comes when all are in
 * use gets a smaller one of their own, so that many slow clients do not fill the memory.
 */

/** Bytes: what one read and one write move at best. */
const SIZE = 256 * 1024;
const MAX_SHARED = 64;
const OVERFLOW_SIZE = 64 * 1024;

export class ReadBuffers {
  private readonly free: Buffer[] = [];
  private made = 0;

  /** A buffer whose content is undefined; give it back when nobody reads it any more. */
  take(): Buffer {
    const known = this.free.pop();
    if (known) return known;
    if (this.made >= MAX_SHARED) return Buffer.allocUnsafeSlow(OVERFLOW_SIZE);
    this.made += 1;
    return Buffer.allocUnsafeSlow(SIZE);
  }

  giveBack(buffer: Buffer): void {
    if (buffer.length === SIZE) this.free.push(buffer);
  }
}
