/** Rows whose columns Plinth prints itself: from the database's connection to whoever writes the answer. */
import { AppError } from '../../common/errors/app-error';
import type { RowSink } from '../../pg-pipeline';
import type { JsonRow } from '../../row-stream/json-row';

/** The types of columns are no longer those that the catalog knows. */
export class SchemaChanged extends AppError {
  constructor() {
    const message = 'The schema changed while the request was under way';
    super({
      status: 503,
      code: 'PL503',
      message,
      database: { sqlstate: 'PL503' },
      headers: { 'Retry-After': '1' },
    });
  }
}

interface PrintingTaker {
  onColumns(row: JsonRow, bytes: Buffer, start: number, end: number): void;
  onColumnsPart(row: JsonRow, bytes: Buffer, start: number, end: number, isLast: boolean): void;
}

/** Fails the statement with SchemaChanged where its types are not those that `row` prints. */
export function printed(row: JsonRow, taker: PrintingTaker): RowSink {
  return {
    formats: row.formats,
    onTypes: (types) => {
      if (!row.fits(types)) throw new SchemaChanged();
    },
    onRow: (bytes, start, end) => taker.onColumns(row, bytes, start, end),
    onRowPart: (bytes, start, end, isLast) => taker.onColumnsPart(row, bytes, start, end, isLast),
  };
}
