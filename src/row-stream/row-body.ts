/** A body of rows, with what stands before, between and after them. */
import { BodyBlocks, type Printer } from './body-blocks';

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
