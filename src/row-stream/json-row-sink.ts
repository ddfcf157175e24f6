/** Prints the rows of a statement as JSON while they arrive. */
import type { Format, RowSink } from '../pg-pipeline';
import { type JsonRow, BEHIND_UTC, valuePrinter } from './json-row';
import type { RowCollector, RowTarget } from './row-collector';
import type { JsonForm } from './json-form';
import { TEXT_PART } from './json-text';

export class JsonRowSink implements RowSink {
  readonly formats: readonly Format[];
  /** A large row that is not complete yet. */
  private parts: JsonRowParts | null = null;

  /** @param mismatch makes the error for columns of other types than `row` prints */
  constructor(
    private readonly row: JsonRow,
    private readonly rows: RowCollector,
    private readonly mismatch: () => Error,
  ) {
    this.formats = row.formats;
  }

  onTypes(types: readonly number[]): void {
    if (!this.row.fits(types)) throw this.mismatch();
  }

  onRow(bytes: Buffer, start: number, end: number): void {
    this.rows.beginRow().print(this.row, bytes, start, end);
    this.rows.sendIfMany();
  }

  onRowPart(bytes: Buffer, start: number, end: number, isLast: boolean): void {
    this.parts ??= new JsonRowParts(this.row, this.rows.beginRow());
    this.parts.add(bytes, start, end);
    if (isLast) this.parts = null;
    this.rows.sendIfMany();
  }
}

/**
 * Prints a row whose bytes arrive in parts, cut anywhere: a value of many megabytes is never in memory as a
 * whole, and no part blocks the event loop for long. Prints the same bytes as JsonRow.
 */
const NULL = Buffer.from('null');
const QUOTE = Buffer.from('"');
const CLOSING_BRACE = Buffer.from('}');
const NO_LENGTH = Buffer.alloc(4);
/** Bytes that are printed in one step. */
const PIECE = 16 * 1024;

export class JsonRowParts {
  /** Index of the value whose bytes or length are arriving. */
  private column = 0;
  /** The length of the value, in four bytes. */
  private readonly length = Buffer.alloc(4);
  /** Number of bytes of the length that have arrived. */
  private lengthBytes = 0;
  /** Bytes of the value that have not arrived; null before its length is known. */
  private left: number | null = null;
  /** Parts of a value that cannot be printed in parts, or the `utc` value before a `zoned` value. */
  private kept: Buffer[] = [];

  constructor(
    private readonly row: JsonRow,
    private readonly output: RowTarget,
  ) {}

  add(bytes: Buffer, start: number, end: number): void {
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
    this.output.append(this.row.keys[this.column] as Buffer);
    if (length < 0) {
      if (this.form !== 'utc') this.output.append(NULL);
      this.endColumn();
      return;
    }
    this.left = length;
    if (this.form === 'text') this.output.append(QUOTE);
    if (length === 0) this.endValue();
  }

  private takeValue(bytes: Buffer, at: number, end: number): number {
    const left = this.left ?? 0;
    const to = Math.min(end, at + left, at + PIECE);
    switch (this.form) {
      case 'text':
        this.output.print(TEXT_PART, bytes, at, to);
        break;
      case 'json':
        this.output.append(bytes.subarray(at, to));
        break;
      default:
        this.kept.push(Buffer.from(bytes.subarray(at, to)));
    }
    this.left = left - (to - at);
    if (this.left === 0) this.endValue();
    return to;
  }

  private endValue(): void {
    if (this.form === 'text') this.output.append(QUOTE);
    if (this.form === 'utc') {
      // Takes the place of the length between the two values in a whole row.
      this.kept.push(NO_LENGTH);
    } else if (this.kept.length > 0) {
      const value = Buffer.concat(this.kept);
      this.kept = [];
      const start = this.form === 'zoned' ? BEHIND_UTC : 0;
      this.output.print(valuePrinter(this.form), value, start, value.length);
    }
    this.left = null;
    this.endColumn();
  }

  private endColumn(): void {
    this.column += 1;
    if (this.column === this.row.columns.length) this.output.append(CLOSING_BRACE);
  }

  private get form(): JsonForm {
    return this.row.columns[this.column]?.form ?? 'json';
  }
}
