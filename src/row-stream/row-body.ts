/** A body of rows, with the bytes before, between and after them. */

export interface BodyFormat {
  readonly head: Buffer;
  readonly separator: Buffer;
  readonly tail: Buffer;
  /** Whether each row must be one line: line breaks in its JSON become spaces. */
  readonly isLine: boolean;
}

/** Prints bytes of a source straight into a block. */
export interface Printer {
  /** Bytes that print() writes at most. */
  maxBytes(bytes: Buffer, start: number, end: number): number;
  /** @param into has room for maxBytes() from `at` @returns the end of the written bytes */
  print(bytes: Buffer, start: number, into: Buffer, at: number, end: number): number;
}

/** Bytes of the first block, enough for a row or two, and of the largest block. */
const SMALLEST = 2 * 1024;
const MAX_PIECE = 64 * 1024;

export class BodyBlocks {
  /** Number of bytes in all blocks. */
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

  /** Appends the output of a printer for a part of `bytes`. */
  print(printer: Printer, bytes: Buffer, start: number, end: number): void {
    const max = printer.maxBytes(bytes, start, end);
    if (this.used + max > this.block.length) this.openBlock(max);
    const used = printer.print(bytes, start, this.block, this.used, end);
    this.size += used - this.used;
    this.used = used;
  }

  /** The last bytes. They are in one block if they were appended or printed together. */
  last(length: number): Buffer {
    return this.block.subarray(this.used - length, this.used);
  }

  /** Returns a copy of all bytes. */
  copy(): Buffer {
    return Buffer.concat([...this.full, this.block.subarray(0, this.used)]);
  }

  /** Removes all blocks written so far and returns them; they then belong to the caller. */
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
    // Each block has four times the bytes of the previous block, so that many rows need few blocks, and few rows a small block.
    this.grown = Math.min(MAX_PIECE, 4 * this.grown);
    this.block = Buffer.allocUnsafe(Math.max(room, this.grown));
    this.used = 0;
  }
}

export class RowBody extends BodyBlocks {
  private hasRows = false;

  static of(format: BodyFormat): RowBody {
    return format.isLine ? new LineBody(format) : new RowBody(format);
  }

  protected constructor(private readonly format: BodyFormat) {
    super();
    super.append(format.head);
  }

  /** append() and print() add to the row that begins here. */
  beginRow(): void {
    if (this.hasRows) super.append(this.format.separator);
    this.hasRows = true;
  }

  /** Removes the last bytes and returns them. */
  finish(): Buffer[] {
    super.append(this.format.tail);
    return this.take();
  }
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;

/** JSON has line breaks only between tokens, where any white space is allowed (RFC 8259, 2). json_agg() writes some. */
class LineBody extends RowBody {
  override append(bytes: Buffer): void {
    super.append(bytes);
    this.joinLines(bytes.length);
  }

  override print(printer: Printer, bytes: Buffer, start: number, end: number): void {
    const before = this.size;
    super.print(printer, bytes, start, end);
    this.joinLines(this.size - before);
  }

  private joinLines(length: number): void {
    const json = this.last(length);
    for (const lineBreak of [LINE_FEED, CARRIAGE_RETURN]) {
      for (let at = json.indexOf(lineBreak); at >= 0; at = json.indexOf(lineBreak, at + 1)) json[at] = SPACE;
    }
  }
}
