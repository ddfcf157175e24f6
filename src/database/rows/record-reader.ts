/**
 * Reads the columns of a record that Plinth keeps in a project's database. The project's owner may have changed a
 * column's type or stored any value, so each value is checked before it is used.
 */
import { DatabaseFault, isFault } from '../../common/errors/database-fault';
import { isJsonObject, JsonObject, parseJson } from '../../common/text/json';

/** As PostgreSQL prints it. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Replaces `infinity` and every year that RFC 3339 cannot write. */
const LAST_DATE = Date.parse('9999-12-31T23:59:59.999Z');
const FIRST_DATE = Date.parse('0001-01-01T00:00:00.000Z');

export class RecordReader {
  protected readonly row: Readonly<Record<string, unknown>>;

  /**
   * @param table the table of the record, for the error: `auth.users` @throws DatabaseFault unusable_record when it is not a row
   */
  constructor(
    private readonly table: string,
    row: unknown,
  ) {
    if (typeof row !== 'object' || row === null) throw this.fault(`${table} returns no rows`);
    this.row = row as Record<string, unknown>;
  }

  isNull(column: string): boolean {
    return (this.row[column] ?? null) === null;
  }

  /** @throws DatabaseFault unusable_record, as all methods here do, when the value does not fit */
  uuid(column: string): string {
    const value = this.row[column];
    if (typeof value === 'string' && UUID.test(value)) return value;
    throw this.unusable(column, 'a UUID');
  }

  uuidOrNull(column: string): string | null {
    return this.isNull(column) ? null : this.uuid(column);
  }

  /** @param maxLength in characters */
  text(column: string, maxLength: number): string {
    const value = this.row[column];
    if (typeof value === 'string' && value.length <= maxLength) return value;
    throw this.unusable(column, `text of at most ${maxLength} characters`);
  }

  textOrNull(column: string, maxLength: number): string | null {
    return this.isNull(column) ? null : this.text(column, maxLength);
  }

  oneOf<T extends string>(column: string, values: readonly T[]): T {
    const value = this.row[column];
    const found = values.find((one) => one === value);
    if (found !== undefined) return found;
    throw this.unusable(column, `one of ${values.join(', ')}`);
  }

  boolean(column: string): boolean {
    const value = this.row[column];
    if (typeof value === 'boolean') return value;
    throw this.unusable(column, 'true or false');
  }

  /** @param most at most 2^53 - 1; bigint, which arrives as text, is accepted */
  integer(column: string, least: number, most: number): number {
    const value = this.row[column];
    const number = typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value;
    if (typeof number === 'number' && Number.isSafeInteger(number) && number >= least && number <= most) {
      return number;
    }
    throw this.unusable(column, `a whole number from ${least} to ${most}`);
  }

  /** Years 1 to 9999: earlier and later years and `infinity` become the first or last moment of that range. */
  date(column: string): Date {
    const value = this.row[column];
    const time = value instanceof Date ? value.getTime() : isInfinite(value) ? value : NaN;
    if (Number.isNaN(time)) throw this.unusable(column, 'a point in time');
    return new Date(Math.min(LAST_DATE, Math.max(FIRST_DATE, time)));
  }

  dateOrNull(column: string): Date | null {
    return this.isNull(column) ? null : this.date(column);
  }

  /** @param most bytes */
  bytes(column: string, most: number): Buffer {
    const value = this.row[column];
    if (Buffer.isBuffer(value) && value.length <= most) return value;
    throw this.unusable(column, `a bytea of at most ${most} bytes`);
  }

  bytesOrNull(column: string, most: number): Buffer | null {
    return this.isNull(column) ? null : this.bytes(column, most);
  }

  /** For a column selected as text, so that its length is checked before it is parsed. @param most characters */
  jsonObject(column: string, most: number): JsonObject {
    const value = parseJson(this.text(column, most));
    if (isJsonObject(value)) return value;
    throw this.unusable(column, 'a JSON object');
  }

  /** The error of a column with an unusable value. @param wanted `a UUID` */
  unusable(column: string, wanted: string): Error {
    return this.fault(`${this.table}.${column} is not ${wanted}`);
  }

  protected fault(detail: string): Error {
    return new DatabaseFault(
      'unusable_record',
      `The project's database contains a value that Plinth does not write: ${detail}`,
    );
  }
}

export function isUnusableRecord(error: unknown): boolean {
  return isFault(error, 'unusable_record');
}

/** node-postgres returns `infinity` and `-infinity` as numbers. */
function isInfinite(value: unknown): value is number {
  return value === Infinity || value === -Infinity;
}
