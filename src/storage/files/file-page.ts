/** A page of a list of files, taken from the rows of its statement (file-list.repository.ts). */
import { BodyBlocks } from '../../common/http/body-blocks';
import { ColumnsTaker } from '../../database/pools/pipelined-query';
import { type Format, TEXT } from '../../database/pools/message-writer';
import { rowIn } from '../../database/pools/row-splitter';
import { JsonRow } from '../../database/rows/json-row';

export interface FilePage {
  /** FileRecords in JSON with commas between, in pieces of any size. */
  readonly files: readonly Buffer[];
  /** Files that match, on all pages; null when the page continues another. */
  readonly total: number | null;
  /** Where the next page begins; null after the last one. */
  readonly next: { readonly key: string; readonly id: string } | null;
}

/** The members of a FileRecord, in its order. */
const RECORD = new JsonRow([
  { name: 'id', form: 'uuid' },
  { name: 'bucket_id', form: 'uuid' },
  { name: 'bucket_slug', form: 'text' },
  { name: 'filename', form: 'text' },
  { name: 'content_type', form: 'text' },
  { name: 'size', form: 'int8' },
  { name: 'sha256', form: 'text' },
  { name: 'owner_id', form: 'uuid' },
  { name: 'metadata', form: 'json' },
  { name: 'created_at', form: 'instant' },
  { name: 'updated_at', form: 'instant' },
]);
const COMMA = Buffer.from(',');

/** Takes the columns of RECORD, or nulls in their places, and then total, key and id of what is known of the page. */
export class PageRows implements ColumnsTaker {
  readonly formats: readonly Format[] = [...RECORD.formats, TEXT, TEXT, TEXT];
  private readonly files = new BodyBlocks();
  private facts: Pick<FilePage, 'total' | 'next'> | null = null;

  onRow(bytes: Buffer, start: number, end: number): void {
    if (bytes.readInt32BE(start) < 0) {
      this.takeFacts(rowIn(bytes, start, end).slice(-3));
      return;
    }
    if (this.files.size > 0) this.files.append(COMMA);
    this.files.print(RECORD, bytes, start, end);
  }

  private takeFacts([total, key, id]: (Buffer | null | undefined)[]): void {
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
