/** Prints the rows of a statement as JSON while they arrive. */
import type { Format, RowSink } from '../pg-pipeline';
import type { JsonRow } from './json-row';
import { JsonRowParts } from './json-row-parts';
import type { RowCollector } from './row-collector';

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
    this.rows.beginRow();
    this.rows.print(this.row, bytes, start, end);
    this.rows.sendIfMany();
  }

  onRowPart(bytes: Buffer, start: number, end: number, isLast: boolean): void {
    if (!this.parts) this.rows.beginRow();
    this.parts ??= new JsonRowParts(this.row, this.rows);
    this.parts.add(bytes, start, end);
    if (isLast) this.parts = null;
    this.rows.sendIfMany();
  }
}
