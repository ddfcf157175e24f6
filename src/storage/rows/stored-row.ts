/**
 * Reads the columns of a row of a project's storage tables. The project's owner may have altered the tables, so each reader
 * checks type, format and length, and throws AppError 500 for anything that Plinth does not write.
 */
import { isJsonObject, JsonObject } from '../../common/text/json';
import { storageFault } from '../../common/text/storable';
import { isObjectId } from '../providers/object-address';
import { tablesAltered } from '../storage.errors';
import { isInstant, LIMITS } from './limits';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const SHA256 = /^[0-9a-f]{64}$/;
/** A bigint, which the driver returns as text. */
const DIGITS = /^\d{1,16}$/;

export class StoredRow {
  private readonly columns: Readonly<Record<string, unknown>>;

  /** @param table for messages @param row as the driver returns it @throws AppError 500 when it is no row */
  constructor(
    private readonly table: string,
    row: unknown,
  ) {
    if (typeof row !== 'object' || row === null) throw tablesAltered(`storage.${table} returns no rows`);
    this.columns = row as Record<string, unknown>;
  }

  isNull(column: string): boolean {
    return this.columns[column] === null;
  }

  uuid(column: string): string {
    const value = this.columns[column];
    if (typeof value === 'string' && UUID.test(value)) return value;
    throw this.refused(column, 'a UUID');
  }

  uuidOrNull(column: string): string | null {
    return this.isNull(column) ? null : this.uuid(column);
  }

  objectId(column: string): string {
    const value = this.columns[column];
    if (isObjectId(value)) return value;
    throw this.refused(column, 'the id of an object');
  }

  sha256(column: string): string {
    const value = this.columns[column];
    if (typeof value === 'string' && SHA256.test(value)) return value;
    throw this.refused(column, 'a SHA-256 in hexadecimal');
  }

  /** @param max bytes of UTF-8 @param min characters */
  text(column: string, max: number, min = 1): string {
    const value = this.columns[column];
    if (typeof value === 'string' && value.length >= min && Buffer.byteLength(value) <= max) return value;
    throw this.refused(column, `text of at most ${max} bytes`);
  }

  textOrNull(column: string, max: number): string | null {
    return this.isNull(column) ? null : this.text(column, max, 0);
  }

  /** Not negative, and exact in JavaScript. */
  wholeNumber(column: string): number {
    const value = this.columns[column];
    const number = typeof value === 'string' && DIGITS.test(value) ? Number(value) : value;
    if (typeof number === 'number' && Number.isSafeInteger(number) && number >= 0) return number;
    throw this.refused(column, 'a whole number that is not negative');
  }

  wholeNumberOrNull(column: string): number | null {
    return this.isNull(column) ? null : this.wholeNumber(column);
  }

  boolean(column: string): boolean {
    const value = this.columns[column];
    if (typeof value === 'boolean') return value;
    throw this.refused(column, 'true or false');
  }

  /** Between the years 1 and 9999. */
  instant(column: string): Date {
    const value = this.columns[column];
    if (value instanceof Date && isInstant(value.getTime())) return value;
    throw this.refused(column, 'a time between the years 1 and 9999');
  }

  object(column: string): JsonObject {
    const value = this.columns[column];
    if (isJsonObject(value) && !(value instanceof Date) && storageFault(column, value) === null) return value;
    throw this.refused(column, 'a JSON object');
  }

  /** @param max bytes of each text */
  textsOrNull(column: string, max: number): string[] | null {
    if (this.isNull(column)) return null;
    const value = this.columns[column];
    const isText = (item: unknown): item is string => typeof item === 'string' && item.length <= max;
    if (Array.isArray(value) && value.length <= LIMITS.listLength && value.every(isText)) return value;
    throw this.refused(column, `a list of texts of at most ${max} characters`);
  }

  oneOf<T extends string>(column: string, choices: readonly T[]): T {
    const value = choices.find((choice) => choice === this.columns[column]);
    if (value !== undefined) return value;
    throw this.refused(column, `one of ${choices.join(', ')}`);
  }

  private refused(column: string, wanted: string): Error {
    return tablesAltered(`storage.${this.table}.${column} is not ${wanted}`);
  }
}
