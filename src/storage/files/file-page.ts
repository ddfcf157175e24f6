/** Prints a page of files as JSON, straight from the rows of the query (file-list.repository.ts). */
import { BodyBlocks } from '../../row-stream/row-body';
import { type Format, readRow, type RowSink, TEXT } from '../../pg-pipeline';
import { tablesAltered } from '../storage.errors';
import { LIMITS } from '../rows/stored-row';
import { fixed, json, ListedRow, nullable, text } from '../rows/listed-row';

export interface FilePage {
  /** FileRecords as JSON. */
  readonly files: readonly Buffer[];
  /** Number of matching files on all pages; null for a page that was requested by cursor. */
  readonly total: number | null;
  /** Where the next page begins; null on the last page. */
  readonly next: { readonly key: string; readonly id: string } | null;
}

/** The members of a FileRecord, in the order of the columns. */
const COLUMNS = [
  fixed('id', 'uuid'),
  fixed('bucket_id', 'uuid'),
  nullable(text('bucket_slug', LIMITS.slug, 0)),
  text('filename', LIMITS.filename),
  text('content_type', LIMITS.contentType, 0),
  fixed('size', 'int8'),
  text('sha256', LIMITS.sha256, LIMITS.sha256),
  nullable(fixed('owner_id', 'uuid')),
  json('metadata', 'object', LIMITS.metadata),
  fixed('created_at', 'instant'),
  fixed('updated_at', 'instant'),
];
const RECORD = new ListedRow('files', COLUMNS);
const MARKED_RECORD = new ListedRow('files', [
  ...COLUMNS,
  { ...nullable(text('scan_result', LIMITS.scanResult)), isOptional: true },
]);
/** Number of columns after the members, which describe the page: total, key and id. */
const FACTS = 3;
/** Maximum bytes of a key and an id: a key may be a filename. */
const MAX_FACT = LIMITS.filename;
/** Maximum number of digits of a total. */
const TOTAL = /^\d{1,16}$/;
const COMMA = Buffer.from(',');

/** Reads one row about the page (nulls in the columns of RECORD, then total, key and id), and one row for each file. */
export class PageRows implements RowSink {
  readonly formats: readonly Format[];
  private readonly record: ListedRow;
  private readonly files = new BodyBlocks();
  private facts: Pick<FilePage, 'total' | 'next'> | null = null;

  /** @param hasMark whether the rows have the column of the virus scan */
  constructor(hasMark: boolean) {
    this.record = hasMark ? MARKED_RECORD : RECORD;
    this.formats = [...this.record.json.formats, ...Array<Format>(FACTS).fill(TEXT)];
  }

  /** @throws AppError 500 if a column's type differs from the type that its values are read as */
  onTypes(types: readonly number[]): void {
    this.record.assertTypes(types.slice(0, -FACTS));
  }

  onRow(bytes: Buffer, start: number, end: number): void {
    if (bytes.readInt32BE(start) < 0) {
      if (this.facts) throw tablesAltered('storage.files.id is null');
      this.takeFacts(readRow(bytes, start, end).slice(-FACTS));
      return;
    }
    this.record.assertValues(bytes, start);
    if (this.files.size > 0) this.files.append(COMMA);
    this.files.print(this.record.json, bytes, start, end);
  }

  private takeFacts([total, key, id]: (Buffer | null | undefined)[]): void {
    if (total && !TOTAL.test(total.toString('latin1', 0, MAX_FACT)))
      throw tablesAltered('storage.count_visible() returns no total');
    if ((key?.length ?? 0) > MAX_FACT) throw tablesAltered('a column of storage.files is too long');
    this.facts = {
      total: total ? Number(total.toString()) : null,
      next: key && id ? { key: key.toString(), id: id.toString() } : null,
    };
  }

  /** Hands over the page, once; null when no bucket was found. */
  take(): FilePage | null {
    return this.facts && { ...this.facts, files: this.files.take() };
  }
}
