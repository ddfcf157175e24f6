/** Reads the columns of a row of a project's storage tables, more strictly than its base class and with storage's errors. */
import { isJsonObject, JsonObject } from '../../common/text/json';
import { storageFault } from '../../common/text/storable';
import { RecordReader } from '../../database/rows/record-reader';
import { isObjectId } from '../providers/object-address';
import { tablesAltered } from '../storage.errors';
import { isInstant, LIMITS } from './limits';

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
