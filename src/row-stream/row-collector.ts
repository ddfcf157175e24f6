/**
 * Collects the rows of a request. Few rows are kept, so that an error still gets a status and the headers can tell the
 * number of rows; many rows are sent to the client while they arrive.
 */
import type { ServerResponse } from 'node:http';
import type { Printer } from './body-blocks';
import type { FlowControl, StreamConsumer } from './flow-control';
import { ResponseStream, type StreamOptions } from './response-stream';
import { type BodyFormat, RowBody } from './row-body';

export interface CollectorOptions extends StreamOptions {
  readonly format: BodyFormat;
  /** Whether the first row is needed by itself. */
  readonly keepsFirst: boolean;
}

const NULL = Buffer.from('null');

/** Bytes after which rows are no longer kept. */
const STREAM_AFTER = 2 * 1024 * 1024;
/** Bytes that are sent at once from then on. */
const CHUNK = 64 * 1024;

export class RowCollector implements StreamConsumer {
  /** All rows, where they were counted before. */
  total: number | null = null;
  /** response.headers and response.status, as they were set before the first row. */
  settings: { readonly headers: string | null; readonly status: string | null } = {
    headers: null,
    status: null,
  };
  /** The first row by itself, where the options ask for it. */
  first: Buffer | undefined;
  private body: RowBody;
  private readonly stream: ResponseStream;

  constructor(
    response: ServerResponse,
    private readonly options: CollectorOptions,
  ) {
    this.body = new RowBody(options.format);
    this.stream = new ResponseStream(response, options);
  }

  onStart(control: FlowControl): void {
    this.stream.start(control);
  }

  onRepeat(): boolean {
    if (!this.stream.hasBegun) this.forget();
    return !this.stream.hasBegun;
  }

  /** The total came, before the first row. */
  onTotal(total: number): void {
    this.total = total;
  }

  /** The settings came, before the first row. */
  onResponseSettings(settings: RowCollector['settings']): void {
    this.settings = settings;
  }

  /** A row that PostgreSQL has made JSON or text of. @param row UTF-8, which is copied */
  onRow(row: Buffer | null): void {
    if (this.options.keepsFirst) this.first ??= Buffer.from(row ?? NULL);
    this.beginRow();
    this.append(row ?? NULL);
    this.sendIfMany();
  }

  /** What follows is a row: append() and print() add to it. */
  beginRow(): void {
    this.body.beginRow();
  }

  append(bytes: Buffer): void {
    this.body.append(bytes);
  }

  print(printer: Printer, bytes: Buffer, start: number, end: number): void {
    this.body.print(printer, bytes, start, end);
  }

  /** To be called after each row, or part of one. @throws AppError 503: see ResponseStream.write() */
  sendIfMany(): void {
    const limit = this.stream.hasBegun ? CHUNK : STREAM_AFTER;
    if (this.stream.isAllowed && this.body.size >= limit) this.stream.write(this.body.take());
  }

  /** The whole body. Null where a part of it was sent already: then the rest is sent. */
  finish(): Buffer[] | null {
    this.stream.release();
    const blocks = this.body.finish();
    if (!this.stream.hasBegun) return blocks;
    this.stream.end(blocks);
    return null;
  }

  /** The statements failed. */
  fail(): void {
    this.stream.release();
    this.forget();
  }

  private forget(): void {
    this.total = null;
    this.first = undefined;
    this.body = new RowBody(this.options.format);
  }
}
