/** Metadata and tags of objects in the headers of the S3 protocol. Tags are the member `s3_tags` of the metadata. */
import type { Request } from 'express';
import type { OutgoingHttpHeaders } from 'node:http';
import { isJsonObject, type JsonObject } from '../../../common/text/json';
import { isContentType } from '../../content-type/content-type';
import type { S3File } from '../../files/file';
import { invalidArgument, notImplemented, s3Error } from './s3.errors';
import { queryOf } from './signature';

const PREFIX = 'x-amz-meta-';
export const TAGS = 's3_tags';
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,128}$/;
const CONTROL = /\p{Cc}/u;
const MAX_TAGS = 10;
/** Maximum characters of names and values. */
const MAX_METADATA = 8_192;

/** Headers that are refused: ignoring them would change what is stored, or how it is protected. */
const REFUSED: Readonly<Record<string, (value: string) => boolean>> = {
  'x-amz-acl': (value) => !['private', 'bucket-owner-full-control'].includes(value),
  'x-amz-server-side-encryption': (value) => value !== 'AES256',
  'x-amz-server-side-encryption-customer-algorithm': () => true,
  'x-amz-object-lock-mode': () => true,
  'x-amz-object-lock-legal-hold': (value) => value !== 'OFF',
  'x-amz-website-redirect-location': () => true,
  'x-amz-write-offset-bytes': () => true,
};

/** @throws AppError 501 unless the request names the ACL that every bucket and object has */
export function assertPrivateAcl(request: Request): void {
  if (request.get('x-amz-acl') === undefined) throw notImplemented('An ACL in the body, or with grants');
  assertSupported(request);
}

/** @throws AppError 501 for a header that is not supported */
export function assertSupported(request: Request): void {
  for (const [name, isRefused] of Object.entries(REFUSED)) {
    const value = request.get(name);
    if (value !== undefined && isRefused(value)) throw notImplemented(`${name}: ${value.slice(0, 40)}`);
  }
}

/** @throws AppError 400 for invalid or too much metadata */
export function metadataOf(request: Request): JsonObject {
  const metadata: Record<string, unknown> = Object.fromEntries(
    Object.entries(request.headers)
      .filter(([name]) => name.startsWith(PREFIX) && name !== PREFIX)
      .map(([name, value]) => [name.slice(PREFIX.length), utf8(String(value))]),
  );
  const tags = request.get('x-amz-tagging');
  if (tags !== undefined && tags !== '') metadata[TAGS] = tagsOf(queryOf(`?${tags}`));
  return metadata as JsonObject;
}

/** Node decodes the bytes of headers as Latin-1. */
function utf8(text: string): string {
  const decoded = Buffer.from(text, 'latin1').toString();
  return decoded.includes('\ufffd') ? text : decoded;
}

/** @throws AppError 400 for invalid tags */
export function tagsOf(pairs: readonly (readonly [key: string, value: string])[]): JsonObject {
  if (pairs.length > MAX_TAGS)
    throw s3Error(400, 'BadRequest', `An object may have at most ${MAX_TAGS} tags`);
  const isSound = pairs.every(([key, value]) => key !== '' && key.length <= 128 && value.length <= 256);
  if (!isSound || new Set(pairs.map(([key]) => key)).size < pairs.length)
    throw s3Error(
      400,
      'InvalidTag',
      'Tags must have distinct keys of 1 to 128 characters, and values of at most 256',
    );
  return Object.fromEntries(pairs);
}

export function storedTags({ metadata }: Pick<S3File, 'metadata'>): [string, string][] {
  const tags = metadata[TAGS];
  const pairs = isJsonObject(tags) ? Object.entries(tags) : [];
  return pairs.filter((pair): pair is [string, string] => typeof pair[1] === 'string');
}

/**
 * Headers for the metadata values whose names are valid in headers, up to MAX_METADATA; `x-amz-missing-meta`
 * counts the other values.
 */
export function metadataHeaders(file: S3File): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {};
  let [left, missing] = [MAX_METADATA, 0];
  for (const name in file.metadata) {
    const value = file.metadata[name];
    if (name === TAGS) continue;
    const isText = typeof value === 'string' && name.length + value.length <= left;
    if (isText && HEADER_NAME.test(name) && !CONTROL.test(value)) {
      headers[PREFIX + name] = Buffer.from(value).toString('latin1');
      left -= name.length + value.length;
    } else missing += 1;
  }
  if (missing > 0) headers['x-amz-missing-meta'] = String(missing);
  const tags = storedTags(file).length;
  if (tags > 0) headers['x-amz-tagging-count'] = String(tags);
  return headers;
}

const OVERRIDES = {
  'response-content-disposition': 'Content-Disposition',
  'response-content-encoding': 'Content-Encoding',
  'response-content-language': 'Content-Language',
  'response-cache-control': 'Cache-Control',
  'response-expires': 'Expires',
} as const;

/** @throws AppError 400 for a value that a header cannot have */
export function overriddenHeaders(query: ReadonlyMap<string, string>): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {};
  for (const [parameter, name] of Object.entries(OVERRIDES)) {
    const value = query.get(parameter);
    if (value === undefined) continue;
    if (!/^[\x20-\x7e]{1,1024}$/.test(value)) throw invalidArgument(`${parameter} must be ASCII`);
    headers[name] = value;
  }
  return headers;
}

/** The type that the query asks for; undefined for the file's own type. @throws AppError 400 for an invalid type */
export function overriddenType(query: ReadonlyMap<string, string>): string | undefined {
  const type = query.get('response-content-type');
  if (type !== undefined && !isContentType(type))
    throw invalidArgument('response-content-type must be a content type');
  return type;
}
