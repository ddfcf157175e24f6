/** Takes the rows of an execution while they arrive. */
import type { JsonRow } from '../../database/rows/json-row';
import type { StreamTaker } from '../../database/rls/rls-transaction';
import type { ResponseSettings } from './execution';

export interface RowTaker extends StreamTaker {
  /** UTF-8, to be copied: valid until this returns. */
  onRow(text: Buffer | null): void;
  /** The same for a row that is still to be printed: its columns, as JsonRow.print() takes them. */
  onColumns(row: JsonRow, bytes: Buffer, start: number, end: number): void;
  /** The same for a large row, of which this is a part, cut anywhere. */
  onColumnsPart(row: JsonRow, bytes: Buffer, start: number, end: number, isLast: boolean): void;
  /** Before the first row, where the client asked for a count. */
  onTotal(total: number): void;
  /** Before the first row of a read: the settings of the pre-request function. */
  onResponseSettings(settings: ResponseSettings): void;
}
