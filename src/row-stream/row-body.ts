/** A body of rows, with what stands before, between and after them. */

export interface BodyFormat {
  readonly head: Buffer;
  readonly separator: Buffer;
  readonly tail: Buffer;
  /** Whether each row must be one line: line breaks in its JSON become spaces. */
  readonly isLine: boolean;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;

export class RowBody {
  private readonly blocks = new BodyBlocks();
  private hasRows = false;

  constructor(private readonly format: BodyFormat) {
    this.blocks.append(format.head);
  }

  /** Bytes since the last take(). */
  get size(): number {
    return this.blocks.size;
  }

  /** What follows is a row. */
  beginRow(): void {
    if (this.hasRows) this.blocks.append(this.format.separator);
    this.hasRows = true;
  }

  /** Appends bytes of a row. */
  append(bytes: Buffer): void {
    this.blocks.append(bytes);
    if (this.format.isLine) joinLines(this.blocks.last(bytes.length));
  }

  /** Prints bytes of a row. */
  print(printer: Printer, bytes: Buffer, start: number, end: number): void {
    const before = this.blocks.size;
    this.blocks.print(printer, bytes, start, end);
    if (this.format.isLine) joinLines(this.blocks.last(this.blocks.size - before));
  }

  /** A copy of the bytes so far. */
  copy(): Buffer {
    return this.blocks.copy();
  }

  /** Takes away the bytes so far, which belong to the caller then. */
  take(): Buffer[] {
    return this.blocks.take();
  }

  /** Takes away the last bytes. */
  finish(): Buffer[] {
    this.blocks.append(this.format.tail);
    return this.blocks.take();
  }
}

/** JSON has line breaks only between its tokens, where any white space will do (RFC 8259, 2). json_agg() writes some. */
function joinLines(json: Buffer): void {
  for (const lineBreak of [LINE_FEED, CARRIAGE_RETURN]) {
    for (let at = json.indexOf(lineBreak); at >= 0; at = json.indexOf(lineBreak, at + 1)) json[at] = SPACE;
  }
}

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
