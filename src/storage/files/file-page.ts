/** A page of a list of files, taken from the rows of its statement (file-list.repository.ts). */
import { RawRow } from '../../database/pools/row-splitter';

export interface FilePage {
  /** Each a FileRecord in JSON, as PostgreSQL writes it. */
  readonly files: readonly Buffer[];
  /** Files that match, on all pages; null when the page continues another. */
  readonly total: number | null;
  /** Where the next page begins; null after the last one. */
  readonly next: { readonly key: string; readonly id: string } | null;
}

/** Makes no strings of records: they go on as the bytes that they came as. */
export class PageRows {
  private readonly files: Buffer[] = [];
  private facts: Pick<FilePage, 'total' | 'next'> | null = null;

  /** Either a file's record alone, or without one what is known of the page. All columns are text. */
  take([record, total, key, id]: RawRow): void {
    // The row lies in memory that the next one is read into.
    if (record) this.files.push(Buffer.from(record));
    else
      this.facts = {
        total: total ? Number(total.toString()) : null,
        next: key && id ? { key: key.toString(), id: id.toString() } : null,
      };
  }

  /** Null when there was no bucket to list. */
  get page(): FilePage | null {
    return this.facts && { ...this.facts, files: this.files };
  }
}
