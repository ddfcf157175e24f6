/**
 * A pool of buffers for downloads: new buffers for every chunk cost more, in page faults and garbage collection, than reading
 * and sending. The pool is bounded; while it is in use, further downloads get their own smaller buffers, so that many
 * slow clients do not fill the memory.
 */

/** The size in bytes at which reads and writes are fastest. */
const SIZE = 256 * 1024;
const MAX_SHARED = 64;
const OVERFLOW_SIZE = 64 * 1024;

export class ReadBuffers {
  private readonly free: Buffer[] = [];
  private made = 0;

  /** Returns a buffer with undefined content. Release it after its content was sent. */
  take(): Buffer {
    const known = this.free.pop();
    if (known) return known;
    if (this.made >= MAX_SHARED) return Buffer.allocUnsafeSlow(OVERFLOW_SIZE);
    this.made += 1;
    return Buffer.allocUnsafeSlow(SIZE);
  }

  release(buffer: Buffer): void {
    if (buffer.length === SIZE) this.free.push(buffer);
  }
}
