/** Entity tags and preconditions of GET and HEAD (RFC 9110, 8.8 and 13). */
import { parseHttpDate } from './http-date';

export interface Validators {
  /** Strong, with its quotes. */
  readonly etag: string;
  /** Milliseconds since the epoch. HTTP dates have whole seconds. */
  readonly lastModified: number;
}

/** Values of header fields. */
export interface Preconditions {
  readonly ifMatch?: string | undefined;
  readonly ifUnmodifiedSince?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
  readonly ifModifiedSince?: string | undefined;
}

const ENTITY_TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;
const SECOND = 1_000;

/**
 * Evaluates in the order of 13.2.2. A date is ignored when the field with entity tags is present, or when the date is invalid.
 * @returns `failed`: 412; `not_modified`: 304
 */
export function evaluatePreconditions(
  { ifMatch, ifUnmodifiedSince, ifNoneMatch, ifModifiedSince }: Preconditions,
  { etag, lastModified }: Validators,
): 'met' | 'failed' | 'not_modified' {
  const modified = wholeSecond(lastModified);
  if (ifMatch !== undefined) {
    // Strong comparison: a weak tag matches nothing.
    if (!names(ifMatch, (tag) => tag === etag)) return 'failed';
  } else if (ifUnmodifiedSince !== undefined && modified > parseHttpDate(ifUnmodifiedSince)) return 'failed';
  if (ifNoneMatch !== undefined)
    return names(ifNoneMatch, (tag) => tag.replace(/^W\//, '') === etag) ? 'not_modified' : 'met';
  const isOld = ifModifiedSince !== undefined && modified <= parseHttpDate(ifModifiedSince);
  return isOld ? 'not_modified' : 'met';
}

/**
 * True when the Range header applies: If-Range is absent, or matches the current state (13.1.5).
 * @param now milliseconds since the epoch: a date is a weak validator within the second that it names (8.8.2.2)
 */
export function rangeApplies(
  ifRange: string | undefined,
  { etag, lastModified }: Validators,
  now: number,
): boolean {
  if (ifRange === undefined) return true;
  if (isEntityTag(ifRange)) return ifRange.trim() === etag;
  const modified = wholeSecond(lastModified);
  return now - modified >= SECOND && parseHttpDate(ifRange) === modified;
}

/** True when the value of If-Range is an entity tag, not a date. */
export function isEntityTag(text: string): boolean {
  return /^\s*(W\/)?"/.test(text);
}

function names(list: string, isCurrent: (tag: string) => boolean): boolean {
  return list.trim() === '*' || (list.match(ENTITY_TAG) ?? []).some(isCurrent);
}

function wholeSecond(time: number): number {
  return Math.floor(time / SECOND) * SECOND;
}
