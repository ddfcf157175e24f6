/** Serves a written document: its version by the query, entity tag, 304, HEAD. */
import type { Request, Response } from 'express';
import { invalidParameters } from '../../common/errors/http-errors';
import { evaluatePreconditions } from '../../http/syntax/preconditions';
import { sendBuffers } from '../../http/send-chunks';
import type { DocumentFormat, WrittenDocument } from './document-writer';
import { OPENAPI_VERSIONS, type OpenApiVersion } from './versions';

export interface ServedDocument extends Omit<WrittenDocument, 'digest'> {
  /** Strong ETag, with its quotes. */
  readonly etag: string;
}

export function toServed({ body, size, digest }: WrittenDocument): ServedDocument {
  return { body, size, etag: `"${digest}"` };
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

export function serveDocument(
  { body, size, etag }: ServedDocument,
  request: Request,
  response: Response,
  { contentType, cacheControl }: ServeOptions,
): void {
  const headers = { ETag: etag, 'Cache-Control': cacheControl };
  const conditions = { ifNoneMatch: request.get('if-none-match') };
  if (evaluatePreconditions(conditions, { etag, lastModified: Infinity }) === 'not_modified') {
    response.writeHead(304, headers).end();
    return;
  }
  const head = { ...headers, 'Content-Type': `${contentType}; charset=utf-8`, 'Content-Length': size };
  if (request.method === 'HEAD') {
    response.writeHead(200, head).end();
    return;
  }
  sendBuffers(response, 200, head, body);
}
