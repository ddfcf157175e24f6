/** Collects rows with one value, which is JSON or text, followed by a total if one was requested. */
import { BINARY, type Format, readRow, type RowSink } from '../../pg-pipeline';
import type { RowCollector, RowTarget } from '../../row-stream/row-collector';
import { AppError } from '../../common/errors/app-error';
import type { JsonRow } from '../../row-stream/json-row';
import { JsonRowSink } from '../../row-stream/json-row-sink';

const LENGTH_BYTES = 4;

export class ValueRows implements RowSink {
  readonly formats: readonly Format[] = [BINARY];
  /** A large row that is not complete yet. */
  private large: LargeRow | null = null;

  /** @param absent counts rows that have a total only */
  constructor(
    private readonly rows: RowCollector,
    private readonly absent: { rows: number },
  ) {}

  onRow(bytes: Buffer, start: number, end: number): void {
    const [value, total] = readRow(bytes, start, end);
    if (total) this.rows.onTotal(Number(total));
    if (total && value === null) this.absent.rows += 1;
    else this.rows.onRow(value ?? null);
  }

  onRowPart(bytes: Buffer, start: number, end: number, isLast: boolean): void {
    this.large ??= new LargeRow(this.rows);
    this.large.add(bytes.subarray(start, end));
    if (isLast) {
      this.large.end();
      this.large = null;
    }
    this.rows.sendIfMany();
  }
}

/** Only the value can be large, and it is not null then. */
class LargeRow {
  private lengthBytes = 0;
  /** Bytes of the value that have not arrived. */
  private left = 0;
  /** The column after the value. */
  private rest: Buffer = Buffer.alloc(0);

  private readonly row: RowTarget;

  constructor(private readonly rows: RowCollector) {
    this.row = rows.beginRow();
  }

  add(part: Buffer): void {
    let at = 0;
    for (; at < part.length && this.lengthBytes < LENGTH_BYTES; at += 1, this.lengthBytes += 1) {
      this.left = 256 * this.left + part.readUInt8(at);
    }
    const end = Math.min(part.length, at + this.left);
    this.row.append(part.subarray(at, end));
    this.left -= end - at;
    this.rest = Buffer.concat([this.rest, part.subarray(end)]);
  }

  end(): void {
    const [total] = readRow(this.rest, 0, this.rest.length);
    if (total) this.rows.onTotal(Number(total));
  }
}

/** Thrown if the columns have types other than in the catalog. */
export class SchemaChanged extends AppError {
  constructor() {
    const message = 'The schema changed during the request';
    super(503, 'PL503', message, {
      database: { sqlstate: 'PL503' },
      headers: { 'Retry-After': '1' },
    });
  }
}

/** Fails the statement with SchemaChanged if its types differ from the types that `row` prints. */
export function printed(row: JsonRow, rows: RowCollector): RowSink {
  return new JsonRowSink(row, rows, () => new SchemaChanged());
}
