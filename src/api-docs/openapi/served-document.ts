/** Collects a document from its pieces, and serves it: its version by the query, entity tag, 304, HEAD, compression. */
import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { invalidParameters } from '../../common/errors/http-errors';
import { evaluatePreconditions } from '../../http/syntax/preconditions';
import { Slices } from '../../common/time/slices';
import { sendBuffers } from '../../http/send-chunks';
import { BodyBlocks } from '../../row-stream/row-body';
import { type DocumentFormat, OPENAPI_VERSIONS, type OpenApiVersion } from './versions';

export interface ServedDocument {
  /** UTF-8, in blocks: allocating one buffer of that size would take long. */
  readonly body: readonly Buffer[];
  /** Bytes. */
  readonly size: number;
  /** Strong ETag, with its quotes. */
  readonly etag: string;
}

/** Yields to the event loop between the pieces. */
export async function collectDocument(pieces: Iterable<string | Buffer>): Promise<ServedDocument> {
  const body: Buffer[] = [];
  const blocks = new BodyBlocks();
  const hash = createHash('sha1');
  const slices = new Slices();
  let size = 0;
  for (const piece of pieces) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    hash.update(bytes);
    size += bytes.length;
    if (typeof piece === 'string') blocks.append(bytes);
    else body.push(...blocks.take(), piece);
    if (slices.isOver) await slices.yieldToLoop();
  }
  body.push(...blocks.take());
  return { body: body.filter(({ length }) => length > 0), size, etag: `"${hash.digest('base64url')}"` };
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

/** Shorter ones are not compressed. */
const MIN_ZIPPED_BYTES = 1_400;

/** Compressed once for each document, and kept as long as that. */
const zipped = new WeakMap<ServedDocument, Promise<Buffer[]>>();

function zippedBody(document: ServedDocument): Promise<Buffer[]> {
  const known = zipped.get(document);
  if (known) return known;
  const made = Readable.from(document.body).pipe(createGzip()).toArray() as Promise<Buffer[]>;
  zipped.set(document, made);
  return made;
}

export async function serveDocument(
  document: ServedDocument,
  request: Request,
  response: Response,
  { contentType, cacheControl }: ServeOptions,
): Promise<void> {
  const { body, size, etag } = document;
  const isZipped = size >= MIN_ZIPPED_BYTES && request.acceptsEncodings('gzip') === 'gzip';
  // The bytes differ by the encoding, so that the tag of a compressed document is weak.
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
  const typed = { ...headers, 'Content-Type': `${contentType}; charset=utf-8` };
  const head = { ...typed, 'Content-Length': size };
  if (request.method === 'HEAD') {
    response.writeHead(200, head).end();
    return;
  }
  if (!isZipped) return sendBuffers(response, 200, head, body);
  const bytes = await zippedBody(document);
  if (response.destroyed) return;
  const length = bytes.reduce((sum, one) => sum + one.length, 0);
  sendBuffers(response, 200, { ...typed, 'Content-Encoding': 'gzip', 'Content-Length': length }, bytes);
}
