/**
 * Collects the rows of a request. Few rows are kept, so that an error can still set the status, and the
 * headers can contain the number of rows; many rows are sent to the client while they arrive.
 */
import type { ServerResponse } from 'node:http';
import { type BodyFormat, RowBody } from './row-body';
import { type FlowControl, type StreamConsumer, ResponseStream, type StreamOptions } from './response-stream';
import { type LimitOptions, RowLimit } from './row-limit';

export interface CollectorOptions extends StreamOptions, LimitOptions {
  readonly format: BodyFormat;
  /** Whether the response needs the first row only: the other rows are dropped. */
  readonly keepsFirst: boolean;
}

/** Takes the bytes of a row. */
export type RowTarget = Pick<RowBody, 'append' | 'print'>;

const DROPPED: RowTarget = { append: () => undefined, print: () => undefined };
const NULL = Buffer.from('null');

/** Number of bytes after which rows are sent instead of kept. */
const STREAM_AFTER = 2 * 1024 * 1024;
/** Number of bytes that are sent together from then on. */
const CHUNK = 64 * 1024;

export class RowCollector implements StreamConsumer {
  /** The number of all rows, if they were counted first. */
  total: number | null = null;
  /** response.headers and response.status, as they were set before the first row. */
  settings: { readonly headers: string | null; readonly status: string | null } = {
    headers: null,
    status: null,
  };
  private body: RowBody;
  private rows = 0;
  private readonly stream: ResponseStream;
  private readonly limit: RowLimit;

  constructor(
    private readonly response: ServerResponse,
    private readonly options: CollectorOptions,
  ) {
    this.body = RowBody.of(options.format);
    this.stream = new ResponseStream(response, options);
    this.limit = new RowLimit(options);
  }

  /** A copy of the first row, if only the first row is kept; undefined without rows. */
  get first(): Buffer | undefined {
    return this.options.keepsFirst && this.rows > 0 ? this.body.copy() : undefined;
  }

  /** Why rows were refused: there were more than may be held. Null if none were refused. */
  get refusal(): Error | null {
    return this.limit.refusal;
  }

  onStart(control: FlowControl): void {
    this.stream.start(control);
    this.limit.start(control);
  }

  onRepeat(): boolean {
    if (!this.stream.hasBegun) this.forget();
    return !this.stream.hasBegun;
  }

  /** Called with the total, before the first row. */
  onTotal(total: number): void {
    this.total = total;
  }

  /** Called with the settings, before the first row. */
  onResponseSettings(settings: RowCollector['settings']): void {
    this.settings = settings;
  }

  /** Takes a row that PostgreSQL has converted to JSON or text. @param row UTF-8, which is copied */
  onRow(row: Buffer | null): void {
    this.beginRow().append(row ?? NULL);
    this.sendIfMany();
  }

  /** @returns the receiver of the row's bytes */
  beginRow(): RowTarget {
    this.rows += 1;
    if (this.options.keepsFirst && this.rows > 1) return DROPPED;
    this.body.beginRow();
    return this.body;
  }

  /** Call it after each row, or part of a row. @throws AppError as ResponseStream.write() and RowLimit.check() */
  sendIfMany(): void {
    const most = this.stream.hasBegun ? CHUNK : STREAM_AFTER;
    if (!this.stream.isAllowed || this.body.size < most) {
      this.limit.check(this.body.size);
      return;
    }
    this.stream.write(this.body.take());
    this.limit.release();
  }

  /** The whole body. Null if a part of it was sent already: then the rest is sent, too. */
  finish(): Buffer[] | null {
    this.stream.release();
    const blocks = this.body.finish();
    if (!this.stream.hasBegun) {
      this.releaseAfterwards();
      return blocks;
    }
    this.limit.release();
    this.stream.end(blocks);
    return null;
  }

  /** Called when the statements have failed. */
  fail(): void {
    this.stream.release();
    this.forget();
  }

  /** The response holds the rows until the client has read them. */
  private releaseAfterwards(): void {
    if (this.response.closed) this.limit.release();
    else this.response.once('close', () => this.limit.release());
  }

  private forget(): void {
    this.limit.release();
    this.total = null;
    this.rows = 0;
    this.body = RowBody.of(this.options.format);
  }
}
