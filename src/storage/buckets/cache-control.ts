/** Cache-Control of a bucket's files (RFC 9111, 5.2.2; RFC 5861; RFC 8246), by the route that they are read from. */
import { invalidParameters } from '../storage.errors';

/** Directives without a value, and directives with a number of seconds. */
const PLAIN = new Set([
  'public',
  'private',
  'no-cache',
  'no-store',
  'no-transform',
  'must-revalidate',
  'proxy-revalidate',
  'must-understand',
  'immutable',
]);
const TIMED = new Set(['max-age', 's-maxage', 'stale-while-revalidate', 'stale-if-error']);
const DIRECTIVE = /^([a-z-]+)(?:=(\d{1,10}))?$/;

/** The form that parseCacheControl() returns. */
const WRITTEN = /^[a-z-]+(=\d+)?(, [a-z-]+(=\d+)?)*$/;

export type ContentRoute = 'download' | 'signed' | 'preview';

/** Caches revalidate each time: entity tags make that cheap, and no copy outlives an overwrite or a revocation. */
const DEFAULTS: Readonly<Record<ContentRoute, string>> = {
  download: 'private, no-cache',
  signed: 'private, no-cache',
  preview: 'public, no-cache',
};

/** `Public,max-age=60` to `public, max-age=60`. @throws AppError 400 for directives that are not supported */
export function parseCacheControl(text: string): string {
  const directives = text.split(',').map((part) => part.trim().toLowerCase());
  const names = directives.map((directive) => {
    const [, name = '', seconds] = DIRECTIVE.exec(directive) ?? [];
    if (seconds === undefined ? PLAIN.has(name) : TIMED.has(name)) return name;
    throw invalidParameters('cache_control must hold directives such as public, max-age=3600');
  });
  if (new Set(names).size < names.length || (names.includes('public') && names.includes('private')))
    throw invalidParameters('cache_control must not hold a directive twice, or both public and private');
  return directives.join(', ');
}

export interface CachedBucket {
  readonly isPublic: boolean;
  readonly cacheControl: string | null;
}

/**
 * The Cache-Control header of a file. Shared caches may store previews of public buckets only: responses to downloads
 * depend on credentials, and no cache may keep the response to a signed URL longer than the URL is valid.
 * @param bucket null when it was deleted, or is not visible to the caller
 * @param secondsLeft until a signed URL expires
 */
export function cacheControlFor(
  route: ContentRoute,
  bucket: CachedBucket | null,
  secondsLeft = Infinity,
): string {
  // The project's owner may have written any text into the column.
  if (!bucket?.cacheControl || !WRITTEN.test(bucket.cacheControl)) return DEFAULTS[route];
  const directives = bucket.cacheControl.split(', ');
  if (bucket.isPublic && route === 'preview') return bucket.cacheControl;
  const own = directives
    .filter((directive) => !/^(public|private|s-maxage=|proxy-revalidate)/.test(directive))
    .map((directive) =>
      directive.replace(/\d+$/, (seconds) => String(Math.max(0, Math.min(Number(seconds), secondsLeft)))),
    );
  return ['private', ...own].join(', ');
}
