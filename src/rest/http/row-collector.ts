/**
 * Takes a request's rows: keeps them while they are few, so that an error still gets a status and the headers can tell
 * the number of rows, and writes them out as they come once they are many. A client that reads slowly slows the database
 * down; one that goes away stops a read.
 */
import type { ServerResponse } from 'node:http';
import type { FlowControl } from '../../database/rls/rls-transaction';
import type { JsonRow } from '../../database/rows/json-row';
import type { ResponseSettings } from '../execute/execution';
import type { RowTaker } from '../execute/row-taker';
import { BodyBlocks, type Printer } from '../../common/http/body-blocks';
import { JsonRowParts } from '../../database/rows/json-row-parts';

/** How rows become a body. */
export interface BodyFormat {
  readonly head: Buffer;
  readonly separator: Buffer;
  readonly tail: Buffer;
  /** Whether a row is a line: blanks of its JSON that break lines become spaces. */
  readonly isLine: boolean;
}

export interface CollectorOptions {
  readonly format: BodyFormat;
  /** Writes status and headers of an answer of unknown length; null: rows are never streamed. */
  readonly begin: (() => void) | null;
  /** True for what may be stopped halfway. */
  readonly stopsWithClient: boolean;
  /** Whether the first row is asked for alone. */
  readonly keepsFirst: boolean;
  /** Address of the client; looked up for large answers only. */
  readonly client: () => string;
}

const NULL = Buffer.from('null');
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;

/** Bytes after which rows are no longer kept. */
const STREAM_AFTER = 2 * 1024 * 1024;
/** Bytes that are written at once. */
const CHUNK = 64 * 1024;
/** Milliseconds in which a client must take a chunk: while it doesn't, it keeps a database connection from others. */
export const STALL_LIMIT_MS = 30_000;

export class RowCollector implements RowTaker {
  /** Rows that came so far. */
  count = 0;
  /** All rows, where they were counted beforehand. */
  total: number | null = null;
  /** What was set before the first row. */
  settings: ResponseSettings = { headers: null, status: null };
  /** The first row alone, if it was to be kept. */
  first: Buffer | undefined;
  private body = new BodyBlocks();
  /** A large row under way. */
  private parts: JsonRowParts | null = null;
  private isStreaming = false;
  private control: FlowControl | undefined;
  private stall: NodeJS.Timeout | undefined;

  constructor(
    private readonly response: ServerResponse,
    private readonly options: CollectorOptions,
  ) {
    this.body.append(options.format.head);
  }

  onStart(control: FlowControl): void {
    this.control = control;
    // Begins anew where a write runs a second time.
    this.response.off('close', this.onClose);
    if (this.response.closed) this.stop();
    else this.response.once('close', this.onClose);
  }

  onRepeat(): boolean {
    if (!this.isStreaming) this.forget();
    return !this.isStreaming;
  }

  onTotal(total: number): void {
    this.total = total;
  }

  onResponseSettings(settings: ResponseSettings): void {
    this.settings = settings;
  }

  onRow(row: Buffer | null): void {
    if (this.count === 0 && this.options.keepsFirst) this.first = Buffer.from(row ?? NULL);
    this.beginRow();
    this.append(row ?? NULL);
    this.flushIfMany();
  }

  onColumns(row: JsonRow, bytes: Buffer, start: number, end: number): void {
    this.beginRow();
    this.print(row, bytes, start, end);
    this.flushIfMany();
  }

  onColumnsPart(row: JsonRow, bytes: Buffer, start: number, end: number, isLast: boolean): void {
    if (!this.parts) this.beginRow();
    this.parts ??= new JsonRowParts(row, this);
    this.parts.take(bytes, start, end);
    if (isLast) this.parts = null;
    this.flushIfMany();
  }

  /** Of a row. */
  append(bytes: Buffer): void {
    this.body.append(bytes);
    if (this.options.format.isLine) unbreak(this.body.last(bytes.length));
  }

  /** Of a row. */
  print(printer: Printer, bytes: Buffer, start: number, end: number): void {
    const before = this.body.size;
    this.body.print(printer, bytes, start, end);
    if (this.options.format.isLine) unbreak(this.body.last(this.body.size - before));
  }

  private beginRow(): void {
    if (this.count > 0) this.body.append(this.options.format.separator);
    this.count += 1;
  }

  private flushIfMany(): void {
    const limit = this.isStreaming ? CHUNK : STREAM_AFTER;
    if (this.options.begin && this.body.size >= limit) this.flush();
  }

  /** The whole body; null when it is on its way already, and is now complete. */
  finish(): Buffer[] | null {
    this.unwatch();
    this.body.append(this.options.format.tail);
    if (!this.isStreaming) return this.body.take();
    this.writeAll(this.body.take());
    this.response.end();
    return null;
  }

  /** The rows were refused after all. */
  fail(): void {
    this.unwatch();
    this.forget();
  }

  private forget(): void {
    this.count = 0;
    this.total = null;
    this.first = undefined;
    this.parts = null;
    this.body = new BodyBlocks();
    this.body.append(this.options.format.head);
  }

  private flush(): void {
    if (!this.isStreaming) this.beginStream();
    const blocks = this.body.take();
    if (this.response.destroyed || this.writeAll(blocks)) return;
    this.control?.pause();
    // The database's own time-out does not run while it waits for us to read.
    clearTimeout(this.stall);
    this.stall = setTimeout(() => this.response.destroy(), STALL_LIMIT_MS);
    this.response.once('drain', () => {
      clearTimeout(this.stall);
      this.control?.resume();
    });
  }

  /** @throws AppError 503, while the answer can still tell it, when clients hold too many connections already */
  private beginStream(): void {
    try {
      this.control?.beginStream(this.options.client(), () => this.response.destroy());
    } catch (error) {
      void this.control?.cancel();
      throw error;
    }
    this.isStreaming = true;
    this.options.begin?.();
  }

  /** @returns false when the client has to take some first */
  private writeAll(blocks: readonly Buffer[]): boolean {
    return blocks.reduce((_, block) => this.response.write(block), true);
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
    if (!this.options.stopsWithClient) return;
    void this.control?.cancel();
    this.control?.resume();
  }
}

/** JSON has line breaks between its tokens only, where any blank will do (RFC 8259, 2): json_agg() writes them, and clients. */
function unbreak(json: Buffer): void {
  for (const lineBreak of [LINE_FEED, CARRIAGE_RETURN]) {
    for (let at = json.indexOf(lineBreak); at >= 0; at = json.indexOf(lineBreak, at + 1)) json[at] = SPACE;
  }
}
