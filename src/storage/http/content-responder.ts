/** Sends a file's bytes: all of them, ranges, or none if the client has them already (RFC 9110, 13 and 14). */
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { ByteRange, contentRange, parseRange } from '../../http/syntax/byte-ranges';
import {
  evaluatePreconditions,
  isEntityTag,
  Preconditions,
  rangeApplies,
} from '../../http/syntax/preconditions';
import { ClientLeftError, sendChunks } from '../../http/send-chunks';
import { Clock } from '../../common/time/clock';
import { STORAGE_CONFIG, StorageConfig } from '../../config/app-config';
import { Rendition } from '../pictures/renditions.service';
import { ObjectMissingError, ObjectStore } from '../providers/object-store';
import { fileNotFound, preconditionFailed, rangeNotSatisfiable, storageUnavailable } from '../storage.errors';
import { contentHeaders, type Presentation, servedType, validatorsOf } from './content-headers';
import { MultipartRanges } from './multipart-ranges';

export interface ContentOptions extends Presentation {
  /** Reads the file's row. Called again if the bytes are missing: an overwrite may have removed them. */
  readonly find: () => Promise<Rendition | null>;
}

/** A response that carries bytes of a file. */
interface Transfer {
  readonly response: ServerResponse;
  readonly file: Rendition;
  readonly head: OutgoingHttpHeaders;
  readonly type: string;
  /** Whether to send only the headers (HEAD). */
  readonly withoutBody: boolean;
}

@Injectable()
export class ContentResponder {
  private readonly logger = new Logger(ContentResponder.name);

  constructor(
    private readonly store: ObjectStore,
    private readonly clock: Clock,
    @Inject(STORAGE_CONFIG) private readonly config: StorageConfig,
  ) {}

  /** @throws AppError 404, 412, 416 or 500 before the first byte. A later error closes the connection instead. */
  async send(request: IncomingMessage, response: ServerResponse, options: ContentOptions): Promise<void> {
    const file = await options.find();
    if (!file) throw fileNotFound();
    const missing = await this.trySend(request, response, file, options);
    if (missing === null) return;
    // The file may have been overwritten or deleted after its row was read.
    const current = await options.find();
    if (!current) throw fileNotFound();
    const isSame = current.address.objectId === file.address.objectId;
    const stillMissing = isSame ? missing : await this.trySend(request, response, current, options);
    if (stillMissing !== null) throw storageUnavailable(stillMissing);
  }

  /** @returns the error if the object is missing and nothing was sent; null if the response was sent */
  private async trySend(
    request: IncomingMessage,
    response: ServerResponse,
    file: Rendition,
    options: ContentOptions,
  ): Promise<ObjectMissingError | null> {
    try {
      await this.respond(request, response, file, options);
      return null;
    } catch (error) {
      if (error instanceof ObjectMissingError) return error;
      throw error;
    }
  }

  private async respond(
    { headers, method }: IncomingMessage,
    response: ServerResponse,
    file: Rendition,
    options: ContentOptions,
  ): Promise<void> {
    const validators = validatorsOf(file, options);
    const head = contentHeaders(file, validators, options);
    const outcome = evaluatePreconditions(preconditionsOf(headers), validators);
    if (outcome === 'failed') throw preconditionFailed();
    if (outcome === 'not_modified') return void response.writeHead(304, head).end();
    const applies = rangeApplies(headerText(headers['if-range']), validators, this.clock.now());
    const ranges = applies ? parseRange(headers.range, file.size) : null;
    if (ranges === 'unsatisfiable') throw rangeNotSatisfiable(file.size);
    const type = (options.type ?? servedType)(file);
    const transfer = { response, file, head, type, withoutBody: method === 'HEAD' };
    const path = canNginxDecide(headers, applies) ? this.accelPath(file) : null;
    await (path === null ? this.sendRanges(transfer, ranges) : this.delegateToNginx(transfer, path));
  }

  /** The path for X-Accel-Redirect; null if nginx cannot send the file. */
  private accelPath({ size, address, bytes }: Rendition): string | null {
    if (this.config.accelRedirect === null || size === 0 || bytes) return null;
    const path = this.store.sharedPath(address);
    return path === null ? null : `${this.config.accelRedirect}/${path}`;
  }

  /** Access, type and existence have been checked; nginx selects the ranges and sends them (docs/reference/storage.md). */
  private async delegateToNginx(
    { response, file, type, head: common }: Transfer,
    path: string,
  ): Promise<void> {
    if (!(await this.store.has(file.address, file.size))) throw new ObjectMissingError(file.address);
    const head: OutgoingHttpHeaders = {
      ...common,
      'Content-Type': type,
      'Content-Length': 0,
      'X-Accel-Redirect': path,
    };
    // nginx adds this header itself.
    delete head['Accept-Ranges'];
    response.writeHead(200, head).end();
  }

  /** @param ranges null for the whole file */
  private async sendRanges(transfer: Transfer, ranges: readonly ByteRange[] | null): Promise<void> {
    const { file } = transfer;
    const [range, ...others] = ranges ?? [{ start: 0, end: file.size - 1 }];
    if (!range || others.length > 0) return this.sendMultipart(transfer, ranges ?? []);
    const head = {
      ...transfer.head,
      'Content-Type': transfer.type,
      ...(ranges && { 'Content-Range': contentRange(range, file.size) }),
      'Content-Length': range.end - range.start + 1,
    };
    await this.sendRange({ ...transfer, head }, ranges ? 206 : 200, range);
  }

  private async sendRange(transfer: Transfer, status: number, range: ByteRange): Promise<void> {
    const { response, file, head, withoutBody } = transfer;
    if (withoutBody || file.size === 0) return void response.writeHead(status, head).end();
    // Opened before the head is written, so that a missing object can still give an error status.
    const bytes = await this.read(file, range);
    if (Buffer.isBuffer(bytes)) response.writeHead(status, head).end(bytes);
    else await this.sendStream(transfer, status, bytes);
  }

  private async sendMultipart(transfer: Transfer, ranges: readonly ByteRange[]): Promise<void> {
    const { response, file, type, withoutBody } = transfer;
    const parts = new MultipartRanges(type, file.size, ranges);
    const head = {
      ...transfer.head,
      'Content-Type': parts.contentType,
      'Content-Length': parts.length,
    };
    if (withoutBody) return void response.writeHead(206, head).end();
    const body = parts.body((range) => this.read(file, range));
    await this.sendStream({ ...transfer, head }, 206, body);
  }

  private read({ address, bytes }: Rendition, range: ByteRange): Promise<Buffer | AsyncIterable<Buffer>> {
    if (bytes) return Promise.resolve(bytes.subarray(range.start, range.end + 1));
    return this.store.read(address, range);
  }

  /** A client that disconnects is not an error. A provider's failure after the first byte can only be logged. */
  private async sendStream(
    { response, file, head }: Transfer,
    status: number,
    chunks: AsyncIterable<string | Buffer>,
  ): Promise<void> {
    try {
      await sendChunks(response, status, head, chunks);
    } catch (error) {
      if (!response.headersSent) throw error;
      response.destroy();
      if (!(error instanceof ClientLeftError))
        this.logger.error(`sending file ${file.id} failed before its end: ${String(error)}`);
    }
  }
}

function preconditionsOf(headers: IncomingHttpHeaders): Preconditions {
  return {
    ifMatch: headers['if-match'],
    ifUnmodifiedSince: headers['if-unmodified-since'],
    ifNoneMatch: headers['if-none-match'],
    ifModifiedSince: headers['if-modified-since'],
  };
}

/**
 * False if nginx would decide differently from Plinth: nginx evaluates these conditions before it knows
 * Plinth's tag and date, and treats every date in If-Range as a strong validator.
 */
function canNginxDecide(headers: IncomingHttpHeaders, rangeIsUsed: boolean): boolean {
  if (headers['if-match'] !== undefined || headers['if-unmodified-since'] !== undefined) return false;
  return rangeIsUsed || isEntityTag(headerText(headers['if-range']) ?? '');
}

function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join() : value;
}
