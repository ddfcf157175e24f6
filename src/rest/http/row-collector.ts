/**
 * Takes a request's rows: keeps them while they are few, so that an error still gets a status and the headers can tell
 * the number of rows, and writes them out as they come once they are many. A client that reads slowly slows the database
 * down; one that goes away stops a read.
 */
import type { ServerResponse } from 'node:http';
import type { FlowControl } from '../../database/rls/rls-transaction';
import type { RowTaker } from '../execute/rest-executor.service';

/** How rows become a body. */
export interface BodyFormat {
  readonly head: string;
  readonly separator: string;
  readonly tail: string;
}

/** Characters after which rows are no longer kept. */
const STREAM_AFTER = 2 * 1024 * 1024;
/** Characters that are written at once. */
const CHUNK = 64 * 1024;
/** Milliseconds in which a client must take a chunk: while it doesn't, it keeps a database connection from others. */
export const STALL_LIMIT_MS = 30_000;

export class RowCollector implements RowTaker {
  /** Rows that came so far. */
  count = 0;
  /** All rows, where they were counted beforehand. */
  total: number | null = null;
  private rows: string[] = [];
  private size = 0;
  private isStreaming = false;
  private control: FlowControl | undefined;
  private hasWritten = false;
  private stall: NodeJS.Timeout | undefined;

  /**
   * @param begin writes status and headers of an answer of unknown length; null: rows are never streamed
   * @param stopsWithClient true for what may be stopped halfway
   */
  constructor(
    private readonly response: ServerResponse,
    private readonly format: BodyFormat,
    private readonly begin: (() => void) | null,
    private readonly stopsWithClient: boolean,
  ) {}

  onStart(control: FlowControl): void {
    this.control = control;
    if (this.response.closed) this.stop();
    else this.response.once('close', this.onClose);
  }

  onTotal(total: number): void {
    this.total = total;
  }

  onRow(text: string | null): void {
    const row = text ?? 'null';
    this.count += 1;
    this.rows.push(row);
    this.size += row.length;
    if (this.isStreaming ? this.size >= CHUNK : this.begin && this.size >= STREAM_AFTER) this.flush();
  }

  /** The first row alone. */
  get first(): string | undefined {
    return this.rows[0];
  }

  /** The whole body; null when it is on its way already, and is now complete. */
  finish(): string | null {
    this.unwatch();
    if (!this.isStreaming) return this.format.head + this.rows.join(this.format.separator) + this.format.tail;
    const rest = this.rows.map((row) => this.separated(row)).join('');
    this.response.end(rest + this.format.tail);
    return null;
  }

  /** The rows were refused after all. */
  fail(): void {
    this.unwatch();
    this.rows = [];
  }

  private separated(row: string): string {
    const text = this.hasWritten ? this.format.separator + row : row;
    this.hasWritten = true;
    return text;
  }

  private flush(): void {
    if (!this.isStreaming) {
      this.isStreaming = true;
      this.begin?.();
      this.response.write(this.format.head);
    }
    const chunk = this.rows.map((row) => this.separated(row)).join('');
    this.rows = [];
    this.size = 0;
    if (this.response.destroyed || this.response.write(chunk)) return;
    this.control?.pause();
    // The database's own time-out does not run while it waits for us to read.
    clearTimeout(this.stall);
    this.stall = setTimeout(() => this.response.destroy(), STALL_LIMIT_MS);
    this.response.once('drain', () => {
      clearTimeout(this.stall);
      this.control?.resume();
    });
  }

  private unwatch(): void {
    clearTimeout(this.stall);
    this.response.off('close', this.onClose);
  }

  private readonly onClose = (): void => {
    clearTimeout(this.stall);
    if (!this.response.writableFinished) this.stop();
  };

  private stop(): void {
    if (!this.stopsWithClient) return;
    void this.control?.cancel();
    this.control?.resume();
  }
}
