/** How long the values of storage rows may be. Longer ones can only come from SQL of the project's owner. */

export const LIMITS = {
  /** Bytes, as the checks of storage.files and storage.buckets have them. */
  filename: 1_024,
  bucketName: 255,
  /** Bytes: 100 code points, and room for slugs that SQL wrote. */
  slug: 1_024,
  /** Characters of ASCII. */
  contentType: 255,
  sha256: 64,
  /** Bytes: 2,000 UTF-16 code units. */
  description: 8_000,
  /** Bytes: 200 characters, with a blank behind each comma. */
  cacheControl: 512,
  /** Entries of a list. */
  listLength: 1_000,
  /**
   * Bytes of metadata as PostgreSQL prints it: 16 KiB of numbers such as 1e300 print as 309 digits each in files that older
   * versions took.
   */
  metadata: 1024 * 1024,
} as const;

/** Bytes of a list of types as JSON. */
export const MAX_TYPES = LIMITS.listLength * (LIMITS.contentType + 3);

/** Bytes of all rows that a statement may answer: one file with such metadata, or 1,000 names. */
export const MAX_RESULT = 2 * 1024 * 1024;
/** The same for a page of files: 1,000 of the largest that an upload can make. */
export const MAX_PAGE = 32 * 1024 * 1024;
/** The same for one bucket: the driver makes a string of each entry of a list. */
export const MAX_BUCKET = MAX_TYPES + LIMITS.description + LIMITS.slug + 4 * 1024;
/** The same for all buckets of a project, which have no pages. */
export const MAX_BUCKETS = 32 * 1024 * 1024;

/** Milliseconds since the epoch of the first and the last moment that ISO 8601 and HTTP can write. */
export const FIRST_INSTANT = Date.parse('0001-01-01T00:00:00Z');
export const LAST_INSTANT = Date.parse('9999-12-31T23:59:59.999Z');

export function isInstant(time: number): boolean {
  return time >= FIRST_INSTANT && time <= LAST_INSTANT;
}
