/** Collects a document from its pieces, and serves it: its version by the query, entity tag, 304, HEAD, compression. */
import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import { Readable } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';
import { AppError, invalidParameters } from '../../common/errors/app-error';
import { evaluatePreconditions } from '../../http/syntax/preconditions';
import { Slices } from '../../common/time/slices';
import { sendBuffers, sendChunks } from '../../http/send-chunks';
import { BodyBlocks } from '../../row-stream/row-body';
import { type DocumentFormat, OPENAPI_VERSIONS, type OpenApiVersion } from './versions';

export interface ServedDocument {
  /** The gzip of UTF-8, in blocks: allocating one buffer of that size would take long. */
  readonly zipped: readonly Buffer[];
  /** Bytes of the text. */
  readonly size: number;
  /** Strong ETag, with its quotes. */
  readonly etag: string;
}

/** Maximum number of bytes of a document; the document of a schema with 5,000 tables has about 100 million. */
const MAX_DOCUMENT_BYTES = 128 * 1024 * 1024;

/** The schema has more tables, columns or functions than a document may describe. */
export class DocumentTooLargeError extends AppError {
  constructor() {
    const limit = `${MAX_DOCUMENT_BYTES / 1024 / 1024} MiB`;
    super(400, 'invalid_parameters', `A document about this schema exceeds ${limit}`);
  }
}

/** Counts bytes before memory is allocated for them. */
export class DocumentSize {
  bytes = 0;

  /** @throws DocumentTooLargeError */
  add(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > MAX_DOCUMENT_BYTES) throw new DocumentTooLargeError();
  }
}

/** Yields to the event loop between the pieces. @throws DocumentTooLargeError */
export async function collectDocument(pieces: Iterable<string | Buffer>): Promise<ServedDocument> {
  const body: Buffer[] = [];
  const blocks = new BodyBlocks();
  const hash = createHash('sha1');
  const slices = new Slices();
  const size = new DocumentSize();
  for (const piece of pieces) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    hash.update(bytes);
    size.add(bytes.length);
    if (typeof piece === 'string') blocks.append(bytes);
    else body.push(...blocks.take(), piece);
    if (slices.isOver) await slices.yieldToLoop();
  }
  body.push(...blocks.take());
  const plain = body.filter(({ length }) => length > 0);
  const zipped = (await Readable.from(plain).pipe(createGzip()).toArray()) as Buffer[];
  return { zipped, size: size.bytes, etag: `"${hash.digest('base64url')}"` };
}

const DEFAULT_VERSION: OpenApiVersion = '3.1';

/** `?version=3.0`. @throws AppError 400 for any other version than 3.0 and 3.1 */
export function formatOf({ query }: Request, syntax: DocumentFormat['syntax']): DocumentFormat {
  const { version = DEFAULT_VERSION } = query;
  if (typeof version === 'string' && isVersion(version)) return { version, syntax };
  throw invalidParameters(`version must be one of ${Object.keys(OPENAPI_VERSIONS).join(', ')}`);
}

const isVersion = (text: string): text is OpenApiVersion => Object.hasOwn(OPENAPI_VERSIONS, text);

export interface ServeOptions {
  readonly contentType: string;
  readonly cacheControl: string;
}

export async function serveDocument(
  document: ServedDocument,
  request: Request,
  response: Response,
  { contentType, cacheControl }: ServeOptions,
): Promise<void> {
  const { zipped, size, etag } = document;
  const isZipped = request.acceptsEncodings('gzip') === 'gzip';
  // The bytes differ by the encoding, so the tag of a compressed document is weak.
  const headers = {
    ETag: isZipped ? `W/${etag}` : etag,
    'Cache-Control': cacheControl,
    Vary: [response.getHeader('vary'), 'Accept-Encoding'].flat().filter(Boolean).join(', '),
  };
  const conditions = { ifNoneMatch: request.get('if-none-match') };
  if (evaluatePreconditions(conditions, { etag, lastModified: Infinity }) === 'not_modified') {
    response.writeHead(304, headers).end();
    return;
  }
  const typed = { ...headers, 'Content-Type': contentType };
  const head = { ...typed, 'Content-Length': size };
  if (request.method === 'HEAD') {
    response.writeHead(200, head).end();
    return;
  }
  if (!isZipped) return sendChunks(response, 200, head, Readable.from(zipped).pipe(createGunzip()));
  const length = zipped.reduce((sum, one) => sum + one.length, 0);
  sendBuffers(response, 200, { ...typed, 'Content-Encoding': 'gzip', 'Content-Length': length }, zipped);
}

/** Serves a document that depends on the caller's role, so that shared caches may not keep it. */
export function serveRoleDocument(
  document: ServedDocument,
  request: Request,
  response: Response,
  mediaType: string,
): Promise<void> {
  const contentType = `${mediaType}; charset=utf-8`;
  return serveDocument(document, request, response, { contentType, cacheControl: 'private, no-cache' });
}
