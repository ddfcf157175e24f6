/**
 * Keeps the rows and notices of the owner's SQL that fit the limits. Everything else is dropped as it arrives
 * from the database, before node-postgres turns it into strings.
 */
import type { MessageLimits } from '../pg-pipeline';
import { cleanText } from '../database/sql/clean-error';

export type Row = Record<string, unknown>;

/** Limit for the bytes of a response's rows, as JSON and on the wire. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_NOTICES = 100;

interface KeptRows {
  readonly rows: Row[];
  /** True when there were more rows. */
  readonly truncated: boolean;
}

const NO_ROWS: KeptRows = { rows: [], truncated: false };

export class AnswerKeeper implements MessageLimits {
  readonly notices: string[] = [];
  /** The command tag of the last statement. */
  rows: KeptRows = NO_ROWS;

  private current: Row[] | null = null;
  private bytes = 0;
  private truncated = false;

  /** @param maxRows the limit for the rows of the last statement */
  constructor(private readonly maxRows: number) {}

  /** Called before the first row of a statement. */
  begin(): void {
    this.current = [];
    this.bytes = 0;
    this.truncated = false;
  }

  end(): void {
    this.rows = this.current === null ? NO_ROWS : { rows: this.current, truncated: this.truncated };
    this.current = null;
  }

  admitsRow(bytes: number): boolean {
    if (bytes > MAX_BYTES || (this.current?.length ?? 0) >= this.maxRows) this.truncated = true;
    return !this.truncated;
  }

  add(row: Row): void {
    this.bytes += JSON.stringify(row).length;
    if (this.bytes > MAX_BYTES) this.truncated = true;
    else this.current?.push(row);
  }

  admitsNotice(): boolean {
    return this.notices.length < MAX_NOTICES;
  }

  addNotice(message: string | undefined): void {
    if (message !== undefined) this.notices.push(cleanText(message));
  }
}
