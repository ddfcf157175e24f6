/** A page of a list of files, taken from the rows of its statement (file-list.repository.ts). */
import { BodyBlocks } from '../../row-stream/body-blocks';
import { type Format, readRow, type RowSink, TEXT } from '../../pg-pipeline';
import { tablesAltered } from '../storage.errors';
import { LIMITS } from '../rows/limits';
import { fixed, json, ListedRow, nullable, text } from '../rows/listed-row';

export interface FilePage {
  /** FileRecords in JSON with commas between, in pieces of any size. */
  readonly files: readonly Buffer[];
  /** Files that match, on all pages; null when the page continues another. */
  readonly total: number | null;
  /** Where the next page begins; null after the last one. */
  readonly next: { readonly key: string; readonly id: string } | null;
}

/** The members of a FileRecord, in its order. */
const RECORD = new ListedRow('files', [
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
]);
/** What is known of the page comes behind them: total, key and id. */
const FACTS = 3;
/** Bytes of each: a key may be a filename. */
const MAX_FACT = LIMITS.filename;
/** Digits of a total. */
const TOTAL = /^\d{1,16}$/;
const COMMA = Buffer.from(',');

/** Takes the columns of RECORD, or nulls in their places, and then total, key and id of what is known of the page. */
export class PageRows implements RowSink {
  readonly formats: readonly Format[] = [...RECORD.json.formats, ...Array<Format>(FACTS).fill(TEXT)];
  private readonly files = new BodyBlocks();
  private facts: Pick<FilePage, 'total' | 'next'> | null = null;

  /** @throws AppError 500 when the columns have other types than those that the values are read as */
  onTypes(types: readonly number[]): void {
    RECORD.assertTypes(types.slice(0, -FACTS));
  }

  onRow(bytes: Buffer, start: number, end: number): void {
    if (bytes.readInt32BE(start) < 0) {
      if (this.facts) throw tablesAltered('storage.files.id is null');
      this.takeFacts(readRow(bytes, start, end).slice(-FACTS));
      return;
    }
    RECORD.assertValues(bytes, start);
    if (this.files.size > 0) this.files.append(COMMA);
    this.files.print(RECORD.json, bytes, start, end);
  }

  private takeFacts([total, key, id]: (Buffer | null | undefined)[]): void {
    if (total && !TOTAL.test(total.toString('latin1', 0, MAX_FACT)))
      throw tablesAltered('storage.count_visible() answers no total');
    if ((key?.length ?? 0) > MAX_FACT) throw tablesAltered('a column of storage.files is too long');
    this.facts = {
      total: total ? Number(total.toString()) : null,
      next: key && id ? { key: key.toString(), id: id.toString() } : null,
    };
  }

  /** Null when there was no bucket to list. */
  get page(): FilePage | null {
    return this.facts && { ...this.facts, files: this.files.take() };
  }
}
