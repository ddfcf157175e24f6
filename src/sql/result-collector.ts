/**
 * Keeps the rows and notices of the owner's SQL that fit the limits. Everything else is dropped as it arrives
 * from the database, before node-postgres turns it into strings.
 */
import type { MessageLimits } from '../pg-pipeline';
import { cleanText } from '../database/sql/clean-error';

/** Maximum bytes of a response's rows as JSON. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Maximum number of rows of all statements together, which bounds the memory of many short rows. */
const MAX_ROWS = 100_000;
const MAX_NOTICES = 100;
/** Maximum bytes of a row, which is turned into JSON in one piece. */
const MAX_ROW_BYTES = 4 * 1024 * 1024;
/** Maximum number of columns of all statements together: each takes memory even without a row. */
export const MAX_COLUMNS = 100_000;

export interface KeptRows {
  /** The rows as JSON. */
  readonly rows: readonly string[];
  /** True if the statement returned more rows than were kept. */
  readonly truncated: boolean;
}

const NO_ROWS: KeptRows = { rows: [], truncated: false };

export class ResultCollector implements MessageLimits {
  readonly notices: string[] = [];
  /** The rows of the last statement. */
  rows: KeptRows = NO_ROWS;
  /** The rows of each statement, if they are kept. */
  readonly results: KeptRows[] = [];

  private current: string[] | null = null;
  /** Number of bytes of the kept rows, and number of kept rows. */
  private bytes = 0;
  private count = 0;
  private truncated = false;
  private columns = 0;
  /** Called when the results of all statements together have too many columns. */
  onTooManyColumns: (() => void) | undefined;

  /**
   * @param maxRows the limit for the rows of a statement
   * @param keepsAll whether the rows of every statement are kept, not only those of the last statement
   */
  constructor(
    private readonly maxRows: number,
    private readonly keepsAll = false,
  ) {}

  /** Called before the first row of a statement. */
  begin(columns: number): void {
    this.columns += columns;
    if (this.hasTooManyColumns) this.onTooManyColumns?.();
    this.current = [];
    this.truncated = false;
    if (this.keepsAll) return;
    this.bytes = 0;
    this.count = 0;
  }

  get hasTooManyColumns(): boolean {
    return this.columns > MAX_COLUMNS;
  }

  end(): void {
    this.rows = this.current === null ? NO_ROWS : { rows: this.current, truncated: this.truncated };
    if (this.keepsAll) this.results.push(this.rows);
    this.current = null;
  }

  admitsRow(bytes: number): boolean {
    const isFull = (this.current?.length ?? 0) >= this.maxRows || this.count >= MAX_ROWS;
    if (bytes > MAX_ROW_BYTES || isFull) this.truncated = true;
    return !this.truncated;
  }

  /** @param row as JSON */
  add(row: string): void {
    const bytes = row.length;
    if (this.bytes + bytes > MAX_BYTES) {
      this.truncated = true;
      return;
    }
    this.bytes += bytes;
    this.count++;
    this.current?.push(row);
  }

  admitsNotice(): boolean {
    return this.notices.length < MAX_NOTICES;
  }

  addNotice(message: string | undefined): void {
    if (message !== undefined) this.notices.push(cleanText(message));
  }
}
