/** Entity tags and conditional requests for reading (RFC 9110, 8.8.3 and 13.1). */

export interface Validators {
  /** Strong, with its quotes. */
  readonly etag: string;
  /** Milliseconds since the epoch; an HTTP date has whole seconds. */
  readonly lastModified: number;
}

export interface ReadConditions {
  readonly ifNoneMatch?: string | undefined;
  readonly ifModifiedSince?: string | undefined;
}

const ENTITY_TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;

/** True when the client's copy is the current one: 304. If-Modified-Since counts only without If-None-Match (13.2.2). */
export function isNotModified(
  { ifNoneMatch, ifModifiedSince }: ReadConditions,
  { etag, lastModified }: Validators,
): boolean {
  if (ifNoneMatch !== undefined) {
    if (ifNoneMatch.trim() === '*') return true;
    // The weak comparison: W/ is ignored.
    return (ifNoneMatch.match(ENTITY_TAG) ?? []).some((tag) => tag.replace(/^W\//, '') === etag);
  }
  const since = ifModifiedSince === undefined ? NaN : Date.parse(ifModifiedSince);
  return Math.floor(lastModified / 1000) * 1000 <= since;
}

/** True when a Range header counts: If-Range is absent, or names the current state exactly (13.1.5). */
export function rangeApplies(ifRange: string | undefined, { etag, lastModified }: Validators): boolean {
  if (ifRange === undefined) return true;
  if (/^\s*(W\/)?"/.test(ifRange)) return ifRange.trim() === etag;
  return Date.parse(ifRange) === Math.floor(lastModified / 1000) * 1000;
}
