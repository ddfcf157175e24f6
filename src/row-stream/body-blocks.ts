/** Collects the bytes of a body in blocks, which are sent as they are. */

/** Prints bytes of a source straight into a block. */
export interface Printer {
  /** Bytes that print() writes at most. */
  maxBytes(bytes: Buffer, start: number, end: number): number;
  /**
   * @param into has room for maxBytes() from `at`
   * @returns the end of what it wrote
   */
  print(bytes: Buffer, start: number, into: Buffer, at: number, end: number): number;
}

/** Bytes of the first block, enough for a row or two, and of the largest one. */
const SMALLEST = 2 * 1024;
const LARGEST = 64 * 1024;

export class BodyBlocks {
  /** Bytes in all blocks. */
  size = 0;
  private full: Buffer[] = [];
  private block = Buffer.allocUnsafe(SMALLEST);
  private used = 0;
  private grown = SMALLEST;

  append(bytes: Buffer): void {
    this.size += bytes.length;
    if (this.used + bytes.length > this.block.length) this.openBlock(bytes.length);
    this.block.set(bytes, this.used);
    this.used += bytes.length;
  }

  /** Appends what a printer makes of a part of `bytes`. */
  print(printer: Printer, bytes: Buffer, start: number, end: number): void {
    const max = printer.maxBytes(bytes, start, end);
    if (this.used + max > this.block.length) this.openBlock(max);
    const used = printer.print(bytes, start, this.block, this.used, end);
    this.size += used - this.used;
    this.used = used;
  }

  /** The last bytes, which lie in one block if they were appended or printed at once. */
  last(length: number): Buffer {
    return this.block.subarray(this.used - length, this.used);
  }

  /** A copy of all bytes. */
  copy(): Buffer {
    return Buffer.concat([...this.full, this.block.subarray(0, this.used)]);
  }

  /** Takes away the blocks so far, which belong to the caller then. */
  take(): Buffer[] {
    const blocks = [...this.full, this.block.subarray(0, this.used)];
    this.full = [];
    this.block = this.block.subarray(this.used);
    this.used = 0;
    this.size = 0;
    return blocks;
  }

  private openBlock(room: number): void {
    if (this.used > 0) this.full.push(this.block.subarray(0, this.used));
    // Each has four times the bytes of the one before, so that many rows take few blocks, and few rows a small one.
    this.grown = Math.min(LARGEST, 4 * this.grown);
    this.block = Buffer.allocUnsafe(Math.max(room, this.grown));
    this.used = 0;
  }
}
