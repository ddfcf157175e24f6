/** Rows whose columns Plinth prints itself. */
import { AppError } from '../../common/errors/app-error';
import type { RowSink } from '../../pg-pipeline';
import type { JsonRow } from '../../row-stream/json-row';
import { JsonRowSink } from '../../row-stream/json-row-sink';
import type { RowCollector } from '../../row-stream/row-collector';

/** The columns have other types than the catalog says. */
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

/** Fails the statement with SchemaChanged where its types are not those that `row` prints. */
export function printed(row: JsonRow, rows: RowCollector): RowSink {
  return new JsonRowSink(row, rows, () => new SchemaChanged());
}
