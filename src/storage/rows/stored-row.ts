/** Reads the columns of a row of a project's storage tables, more strictly than its base class and with storage's errors. */
import { isJsonObject, JsonObject } from '../../common/text/json';
import { storageFault } from '../../common/text/storable';
import { RecordReader } from '../../database/rows/record-reader';
import { isObjectId } from '../providers/object-store';
import { tablesAltered } from '../storage.errors';

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

function isInstant(time: number): boolean {
  return time >= FIRST_INSTANT && time <= LAST_INSTANT;
}

const SHA256 = /^[0-9a-f]{64}$/;

export class StoredRow extends RecordReader {
  /**
   * @param table the table that messages name
   * @param row as the driver returns it
   * @throws AppError 500, as all methods here do
   */
  constructor(table: string, row: unknown) {
    super(`storage.${table}`, row);
  }

  override isNull(column: string): boolean {
    return this.row[column] === null;
  }

  /** Whether the statement selects the column. */
  has(column: string): boolean {
    return column in this.row;
  }

  objectId(column: string): string {
    const value = this.row[column];
    if (isObjectId(value)) return value;
    throw this.unusable(column, 'the id of an object');
  }

  sha256(column: string): string {
    const value = this.row[column];
    if (typeof value === 'string' && SHA256.test(value)) return value;
    throw this.unusable(column, 'a SHA-256 in hexadecimal');
  }

  /** @param max maximum bytes of UTF-8 @param min minimum number of characters */
  override text(column: string, max: number, min = 1): string {
    const value = this.row[column];
    if (typeof value === 'string' && value.length >= min && Buffer.byteLength(value) <= max) return value;
    throw this.unusable(column, `text of at most ${max} bytes`);
  }

  override textOrNull(column: string, max: number): string | null {
    return this.isNull(column) ? null : this.text(column, max, 0);
  }

  /** A non-negative integer that JavaScript represents exactly. */
  wholeNumber(column: string): number {
    return this.integer(column, 0, Number.MAX_SAFE_INTEGER);
  }

  wholeNumberOrNull(column: string): number | null {
    return this.isNull(column) ? null : this.wholeNumber(column);
  }

  /** A time between the years 1 and 9999. */
  instant(column: string): Date {
    const value = this.row[column];
    if (value instanceof Date && isInstant(value.getTime())) return value;
    throw this.unusable(column, 'a time between the years 1 and 9999');
  }

  object(column: string): JsonObject {
    const value = this.row[column];
    if (isJsonObject(value) && !(value instanceof Date) && storageFault(column, value) === null) return value;
    throw this.unusable(column, 'a JSON object');
  }

  /** @param max maximum bytes of each text */
  textsOrNull(column: string, max: number): readonly string[] | null {
    if (this.isNull(column)) return null;
    const value = this.row[column];
    const isText = (item: unknown): item is string => typeof item === 'string' && item.length <= max;
    if (Array.isArray(value) && value.length <= LIMITS.listLength && value.every(isText)) return value;
    throw this.unusable(column, `a list of texts of at most ${max} characters`);
  }

  protected override fault(detail: string): Error {
    return tablesAltered(detail);
  }
}
