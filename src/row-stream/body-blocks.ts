/** A body in the making: rows are copied once, into blocks that go to the client as they are. */

/** Makes bytes of a source's, right where they stay. */
export interface Printer {
  /** Bytes that print() writes at most. */
  mostBytes(bytes: Buffer, start: number, end: number): number;
  /** @returns where what it wrote ends */
  print(bytes: Buffer, start: number, into: Buffer, at: number, end: number): number;
}

/** Bytes of the first block, enough for a row or two, and of the largest. */
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
    if (this.used + bytes.length > this.block.length) this.turnOver(bytes.length);
    this.block.set(bytes, this.used);
    this.used += bytes.length;
  }

  /** Appends what a printer makes of a source's bytes. */
  print(printer: Printer, bytes: Buffer, start: number, end: number): void {
    const most = printer.mostBytes(bytes, start, end);
    if (this.used + most > this.block.length) this.turnOver(most);
    const used = printer.print(bytes, start, this.block, this.used, end);
    this.size += used - this.used;
    this.used = used;
  }

  /** What was appended or printed last, of so many bytes, in its place. */
  last(length: number): Buffer {
    return this.block.subarray(this.used - length, this.used);
  }

  /** The blocks so far, which are then the taker's. */
  take(): Buffer[] {
    const blocks = [...this.full, this.block.subarray(0, this.used)];
    this.full = [];
    this.block = this.block.subarray(this.used);
    this.used = 0;
    this.size = 0;
    return blocks;
  }

  private turnOver(wanted: number): void {
    if (this.used > 0) this.full.push(this.block.subarray(0, this.used));
    // Each four times the one before it, so that many rows make few blocks and few rows a small one.
    this.grown = Math.min(LARGEST, 4 * this.grown);
    this.block = Buffer.allocUnsafe(Math.max(wanted, this.grown));
    this.used = 0;
  }
}
