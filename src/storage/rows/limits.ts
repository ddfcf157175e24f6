/** Maximum lengths of values in storage rows. Longer values can only come from SQL of the project's owner. */

export const LIMITS = {
  /** Maximum bytes, as in the check constraints of storage.files and storage.buckets. */
  filename: 1_024,
  bucketName: 255,
  /** Maximum bytes: 100 code points, with room for slugs that SQL wrote. */
  slug: 1_024,
  /** Maximum characters, all ASCII. */
  contentType: 255,
  sha256: 64,
  /** Maximum characters: id of an object, MD5, number of parts. */
  etag: 80,
  /** Maximum characters: id of an object, name of a signature. */
  scanResult: 140,
  /** Maximum characters of a value of BUCKET_SCANS. */
  scan: 20,
  /** Maximum bytes of 2,000 UTF-16 code units. */
  description: 8_000,
  /** Maximum bytes of 200 characters with a blank after each comma. */
  cacheControl: 512,
  /** Maximum number of entries of a list. */
  listLength: 1_000,
  /**
   * Maximum bytes of metadata as PostgreSQL prints it. Older versions accepted 16 KiB of numbers such as
   * 1e300, which print as 309 digits each.
   */
  metadata: 1024 * 1024,
} as const;

/** Maximum bytes of a list of types as JSON. */
export const MAX_TYPES = LIMITS.listLength * (LIMITS.contentType + 3);

/** Maximum bytes of all rows of a result: one file with the largest metadata, or 1,000 names. */
export const MAX_RESULT = 2 * 1024 * 1024;
/** Maximum bytes of a page of files: 1,000 of the largest records that an upload can create. */
export const MAX_PAGE = 32 * 1024 * 1024;
/** Maximum bytes of one bucket. It is small, because the driver creates a string for each entry of a list. */
export const MAX_BUCKET = MAX_TYPES + LIMITS.description + LIMITS.slug + 4 * 1024;
/** Maximum bytes of all buckets of a project, which have no pages. */
export const MAX_BUCKETS = 32 * 1024 * 1024;

/** Milliseconds since the epoch: the first and the last time that ISO 8601 and HTTP dates can express. */
export const FIRST_INSTANT = Date.parse('0001-01-01T00:00:00Z');
export const LAST_INSTANT = Date.parse('9999-12-31T23:59:59.999Z');

export function isInstant(time: number): boolean {
  return time >= FIRST_INSTANT && time <= LAST_INSTANT;
}
