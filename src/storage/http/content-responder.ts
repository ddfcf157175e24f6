/** Sends a file's bytes: whole, in ranges, or not at all when the client has them (RFC 9110, 13 and 14). */
import { Inject, Injectable, Logger } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { ByteRange, contentRange, parseRange } from '../../common/http/byte-ranges';
import { contentDisposition, type Disposition } from '../../common/http/content-disposition';
import {
  evaluatePreconditions,
  isEntityTag,
  Preconditions,
  rangeApplies,
  Validators,
} from '../../common/http/preconditions';
import { ClientLeftError, sendChunks } from '../../http/send-chunks';
import { Clock } from '../../common/time/clock';
import { STORAGE_CONFIG, StorageConfig } from '../../config/app-config';
import { essenceOf, isContentType } from '../content-type/content-type';
import { FileContent } from '../files/file';
import { ObjectMissingError, ObjectStore } from '../providers/object-store';
import { fileNotFound, preconditionFailed, rangeNotSatisfiable, storageUnavailable } from '../storage.errors';

export interface ContentOptions {
  readonly disposition: (file: FileContent) => Disposition;
  readonly cacheControl: (file: FileContent) => string;
  /** Instead of the file's own name, unless it is empty. */
  readonly downloadName?: string;
  /** Reads the file's row; again when an overwrite has just taken its bytes away. */
  readonly find: () => Promise<FileContent | null>;
}

/** No script of a file runs with Plinth's origin, or at all; nothing is loaded, and no other type is guessed. */
const HARMLESS = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy':
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; media-src 'self'",
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Referrer-Policy': 'no-referrer',
};

@Injectable()
export class ContentResponder {
  private readonly logger = new Logger(ContentResponder.name);

  constructor(
    private readonly store: ObjectStore,
    private readonly clock: Clock,
    @Inject(STORAGE_CONFIG) private readonly config: StorageConfig,
  ) {}

  /** @throws AppError 404, 412, 416, 500; once bytes are under way the connection is broken off instead */
  async send(request: IncomingMessage, response: ServerResponse, options: ContentOptions): Promise<void> {
    const file = await options.find();
    if (!file) throw fileNotFound();
    try {
      await this.answer(request, response, file, options);
    } catch (error) {
      if (!(error instanceof ObjectMissingError)) throw error;
      await this.answerAgain(request, response, file, options, error);
    }
  }

  /** Between reading the row and opening the bytes somebody may have overwritten or deleted the file. */
  private async answerAgain(
    request: IncomingMessage,
    response: ServerResponse,
    before: FileContent,
    options: ContentOptions,
    error: ObjectMissingError,
  ): Promise<void> {
    const file = await options.find();
    if (!file) throw fileNotFound();
    if (file.address.objectId === before.address.objectId) throw storageUnavailable(error);
    try {
      await this.answer(request, response, file, options);
    } catch (again) {
      throw again instanceof ObjectMissingError ? storageUnavailable(again) : again;
    }
  }

  private async answer(
    request: IncomingMessage,
    response: ServerResponse,
    file: FileContent,
    options: ContentOptions,
  ): Promise<void> {
    const { headers } = request;
    const validators: Validators = { etag: `"${file.sha256}"`, lastModified: file.updatedAt };
    const common = headersOf(file, validators, options);
    const outcome = evaluatePreconditions(preconditionsOf(headers), validators);
    if (outcome === 'failed') throw preconditionFailed();
    if (outcome === 'not_modified') {
      response.writeHead(304, common).end();
      return;
    }
    const applies = rangeApplies(headerText(headers['if-range']), validators, this.clock.now());
    const ranges = applies ? parseRange(headers.range, file.size) : null;
    if (ranges === 'unsatisfiable') throw rangeNotSatisfiable(file.size);
    const path = mayBeNginx(headers, applies) ? this.accelPath(file) : null;
    if (path !== null) return this.leaveToNginx(response, file, common, path);
    const withoutBody = request.method === 'HEAD';
    if (ranges === null) return this.sendWhole(response, file, common, withoutBody);
    if (ranges.length === 1)
      return this.sendPart(response, file, ranges[0] as ByteRange, common, withoutBody);
    return this.sendParts(response, file, ranges, common, withoutBody);
  }

  /** Null where nginx cannot send it. */
  private accelPath({ size, address }: FileContent): string | null {
    if (this.config.accelRedirect === null || size === 0) return null;
    const path = this.store.sharedPath(address);
    return path === null ? null : `${this.config.accelRedirect}/${path}`;
  }

  /** Who may, what it is, and that it is there has been decided; nginx picks the ranges and sends (docs/storage.md). */
  private async leaveToNginx(
    response: ServerResponse,
    file: FileContent,
    common: OutgoingHttpHeaders,
    path: string,
  ): Promise<void> {
    if (!(await this.store.has(file.address, file.size))) throw new ObjectMissingError(file.address);
    const head: OutgoingHttpHeaders = {
      ...common,
      'Content-Type': servedType(file),
      'Content-Length': 0,
      'X-Accel-Redirect': path,
    };
    // nginx would add its own to this one.
    delete head['Accept-Ranges'];
    response.writeHead(200, head).end();
  }

  private async sendWhole(
    response: ServerResponse,
    file: FileContent,
    common: OutgoingHttpHeaders,
    withoutBody: boolean,
  ): Promise<void> {
    const head = { ...common, 'Content-Type': servedType(file), 'Content-Length': file.size };
    await this.sendRange(response, 200, head, file, { start: 0, end: file.size - 1 }, withoutBody);
  }

  private async sendPart(
    response: ServerResponse,
    file: FileContent,
    range: ByteRange,
    common: OutgoingHttpHeaders,
    withoutBody: boolean,
  ): Promise<void> {
    const head = {
      ...common,
      'Content-Type': servedType(file),
      'Content-Range': contentRange(range, file.size),
      'Content-Length': range.end - range.start + 1,
    };
    await this.sendRange(response, 206, head, file, range, withoutBody);
  }

  private async sendRange(
    response: ServerResponse,
    status: number,
    head: OutgoingHttpHeaders,
    file: FileContent,
    range: ByteRange,
    withoutBody: boolean,
  ): Promise<void> {
    if (withoutBody || file.size === 0) {
      response.writeHead(status, head).end();
      return;
    }
    // Opened before the head is written: a missing object still gets an error's status.
    const bytes = await this.store.read(file.address, range);
    if (Buffer.isBuffer(bytes)) response.writeHead(status, head).end(bytes);
    else await this.sendStream(response, status, head, bytes, file);
  }

  /** multipart/byteranges (RFC 9110, 14.6). */
  private async sendParts(
    response: ServerResponse,
    file: FileContent,
    ranges: readonly ByteRange[],
    common: OutgoingHttpHeaders,
    withoutBody: boolean,
  ): Promise<void> {
    const boundary = randomBytes(16).toString('hex');
    const heads = ranges.map(
      (range) =>
        `\r\n--${boundary}\r\nContent-Type: ${servedType(file)}\r\nContent-Range: ${contentRange(range, file.size)}\r\n\r\n`,
    );
    const tail = `\r\n--${boundary}--\r\n`;
    const length = ranges.reduce(
      (sum, { start, end }, index) => sum + end - start + 1 + (heads[index] as string).length,
      tail.length,
    );
    const head = {
      ...common,
      'Content-Type': `multipart/byteranges; boundary=${boundary}`,
      'Content-Length': length,
    };
    if (withoutBody) {
      response.writeHead(206, head).end();
      return;
    }
    const { store } = this;
    async function* body(): AsyncGenerator<string | Buffer> {
      for (const [index, range] of ranges.entries()) {
        const bytes = await store.read(file.address, range);
        yield heads[index] as string;
        if (Buffer.isBuffer(bytes)) yield bytes;
        else yield* bytes;
      }
      yield tail;
    }
    await this.sendStream(response, 206, head, body(), file);
  }

  /** A client that leaves is no error; a provider that fails half-way can only be logged, and the connection is gone. */
  private async sendStream(
    response: ServerResponse,
    status: number,
    head: OutgoingHttpHeaders,
    chunks: AsyncIterable<string | Buffer>,
    file: FileContent,
  ): Promise<void> {
    try {
      await sendChunks(response, status, head, chunks);
    } catch (error) {
      if (!response.headersSent) throw error;
      response.destroy();
      if (!(error instanceof ClientLeftError))
        this.logger.error(`file ${file.id} could not be sent to its end: ${String(error)}`);
    }
  }
}

function headersOf(file: FileContent, validators: Validators, options: ContentOptions): OutgoingHttpHeaders {
  return {
    ETag: validators.etag,
    'Last-Modified': new Date(validators.lastModified).toUTCString(),
    'Accept-Ranges': 'bytes',
    'Cache-Control': options.cacheControl(file),
    'Content-Disposition': contentDisposition(
      options.disposition(file),
      options.downloadName || file.filename,
    ),
    ...HARMLESS,
  };
}

/**
 * Text without a charset would be read as windows-1252 by browsers; hardly any still is. A row that SQL of the owner's wrote
 * may hold what is no type.
 */
function servedType({ contentType }: FileContent): string {
  if (!isContentType(contentType)) return 'application/octet-stream';
  const isText = contentType.startsWith('text/') && essenceOf(contentType) === contentType;
  return isText ? `${contentType}; charset=utf-8` : contentType;
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
 * False where nginx would judge otherwise: it tests these conditions before it knows Plinth's tag and date, and takes each
 * date in If-Range for a strong validator.
 */
function mayBeNginx(headers: IncomingHttpHeaders, rangeCounts: boolean): boolean {
  if (headers['if-match'] !== undefined || headers['if-unmodified-since'] !== undefined) return false;
  return rangeCounts || isEntityTag(headerText(headers['if-range']) ?? '');
}

function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join() : value;
}
