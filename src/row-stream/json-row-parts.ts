/**
 * Prints a row of which the bytes arrive part by part, cut anywhere: a value of many megabytes is never in memory as a
 * whole, and no part keeps the process busy for long. Gives the bytes that JsonRow gives.
 */
import type { Printer } from './body-blocks';
import { BEHIND_UTC, type JsonForm, type JsonRow, TEXT_PART, valuePrinter } from './json-row';

/** Where the bytes go, in their order. */
export interface PartsTaker {
  append(bytes: Buffer): void;
  print(printer: Printer, bytes: Buffer, start: number, end: number): void;
}

const NULL = Buffer.from('null');
const QUOTE = Buffer.from('"');
const CLOSING_BRACE = Buffer.from('}');
const NO_LENGTH = Buffer.alloc(4);
/** Bytes of a text that are printed at once. */
const PIECE = 16 * 1024;

export class JsonRowParts {
  /** Of the value that comes, or whose length comes. */
  private column = 0;
  /** Bytes of its length in four bytes that came. */
  private readonly length = Buffer.alloc(4);
  private lengthBytes = 0;
  /** Bytes of it that are still to come; null before its length is known. */
  private left: number | null = null;
  /** What came of a value that can't be printed in parts, and of one before it that it is printed with. */
  private kept: Buffer[] = [];

  constructor(
    private readonly row: JsonRow,
    private readonly taker: PartsTaker,
  ) {}

  take(bytes: Buffer, start: number, end: number): void {
    let at = start;
    while (at < end) at = this.left === null ? this.takeLength(bytes, at) : this.takeValue(bytes, at, end);
  }

  private takeLength(bytes: Buffer, at: number): number {
    this.length[this.lengthBytes++] = bytes[at] as number;
    if (this.lengthBytes === this.length.length) {
      this.lengthBytes = 0;
      this.beginValue(this.length.readInt32BE());
    }
    return at + 1;
  }

  private beginValue(length: number): void {
    this.taker.append(this.row.keys[this.column] as Buffer);
    if (length < 0) {
      if (this.form !== 'utc') this.taker.append(NULL);
      this.endColumn();
      return;
    }
    this.left = length;
    if (this.form === 'text') this.taker.append(QUOTE);
    if (length === 0) this.endValue();
  }

  private takeValue(bytes: Buffer, at: number, end: number): number {
    const left = this.left ?? 0;
    const to = Math.min(end, at + left, at + PIECE);
    switch (this.form) {
      case 'text':
        this.taker.print(TEXT_PART, bytes, at, to);
        break;
      case 'json':
        this.taker.append(bytes.subarray(at, to));
        break;
      default:
        this.kept.push(Buffer.from(bytes.subarray(at, to)));
    }
    this.left = left - (to - at);
    if (this.left === 0) this.endValue();
    return to;
  }

  private endValue(): void {
    if (this.form === 'text') this.taker.append(QUOTE);
    if (this.form === 'utc') {
      // In a row that is whole, the next one's length stands between them.
      this.kept.push(NO_LENGTH);
    } else if (this.kept.length > 0) {
      const value = Buffer.concat(this.kept);
      this.kept = [];
      const start = this.form === 'zoned' ? BEHIND_UTC : 0;
      this.taker.print(valuePrinter(this.form), value, start, value.length);
    }
    this.left = null;
    this.endColumn();
  }

  private endColumn(): void {
    this.column += 1;
    if (this.column === this.row.columns.length) this.taker.append(CLOSING_BRACE);
  }

  private get form(): JsonForm {
    return this.row.columns[this.column]?.form ?? 'json';
  }
}
