/**
 * Prints rows as JSON from the columns that PostgreSQL sends: the same bytes as row_to_json(). PostgreSQL takes twice
 * the time for a row if it prints the JSON itself, mostly because it looks up the output function of each value.
 */
import type { Format } from '../pg-pipeline';
import { printDate, printInstant, printTimestamp, printZoned } from './binary-times';
import { int16At, int32At, printInt32, printInt64, printUuid } from './binary-values';
import type { Printer } from './row-body';
import { FORMS, type JsonForm } from './json-form';
import { copy, copyPart, maxEscaped, printText } from './json-text';

export interface JsonColumn {
  /** Null for a column that is not printed. */
  readonly name: string | null;
  readonly form: JsonForm;
  /** Whether NULL leaves the member out. */
  readonly isOptional?: boolean;
}

const NULL = Buffer.from('null');
const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
const CLOSING_BRACE = 0x7d;
const ZERO = 0x30;
const NINE = 0x39;
const MINUS = 0x2d;
/** Number of bytes from a `utc` value to the `zoned` value after it: the first value, and the length of the second. */
export const BEHIND_UTC = 12;
export class JsonRow implements Printer {
  /** The bytes before each value: `{"id":`, `,"name":`, or none. */
  readonly keys: readonly Buffer[];
  /** The formats in which the columns must be requested. */
  readonly formats: readonly Format[];
  /** Number of bytes that do not depend on values. */
  private readonly fixed: number;

  /** @param columns at least one with a name */
  constructor(readonly columns: readonly JsonColumn[]) {
    const first = columns.findIndex(({ name }) => name !== null);
    this.keys = columns.map(({ name }, index) =>
      Buffer.from(name === null ? '' : `${index === first ? '{' : ','}${JSON.stringify(name)}:`),
    );
    this.formats = columns.map(({ form }) => FORMS[form].format);
    // Each value needs room for `null`, which can be longer than the value, or for quotes. The brace needs one more byte.
    this.fixed = this.keys.reduce((sum, key) => sum + key.length + NULL.length, 1);
  }

  /** Whether columns of these types (OIDs) can be printed in this way. */
  fits(types: readonly number[]): boolean {
    return (
      types.length === this.columns.length &&
      this.columns.every(({ form }, index) => FORMS[form].oids.some((oid) => oid === types[index]))
    );
  }

  maxBytes(bytes: Buffer, start: number, end: number): number {
    return this.fixed + maxEscaped(bytes, start, end);
  }

  /**
   * @param bytes a row's columns as PostgreSQL sends them, from `start`: the length of each in four bytes, and its value
   * @param into has room for maxBytes() from `at`
   * @returns the end of the printed row in `into`
   */
  print(bytes: Buffer, start: number, into: Buffer, at: number): number {
    let from = start;
    let to = at;
    for (let index = 0; index < this.columns.length; index += 1) {
      const { form, isOptional } = this.columns[index] as JsonColumn;
      const length = int32At(bytes, from);
      const end = from + 4 + Math.max(0, length);
      if (form !== 'utc' && (length >= 0 || !isOptional)) {
        to = copy(this.keys[index] as Buffer, into, to);
        to = length < 0 ? copy(NULL, into, to) : printValue(form, bytes, from + 4, end, into, to);
      }
      from = end;
    }
    into[to] = CLOSING_BRACE;
    return to + 1;
  }
}

/** Prints one whole value. */
export function valuePrinter(form: JsonForm): Printer {
  return {
    maxBytes: maxEscaped,
    print: (bytes, start, into, at, end) => printValue(form, bytes, start, end, into, at),
  };
}

function printValue(
  form: JsonForm,
  bytes: Buffer,
  from: number,
  end: number,
  into: Buffer,
  at: number,
): number {
  switch (form) {
    case 'text':
      return printText(bytes, from, end, into, at);
    case 'int4':
      return printInt32(int32At(bytes, from), into, at);
    case 'uuid':
      return printUuid(bytes, from, into, at);
    case 'json':
      return copyPart(bytes, from, end, into, at);
    case 'number':
      return isNumber(bytes, from)
        ? copyPart(bytes, from, end, into, at)
        : printText(bytes, from, end, into, at);
    case 'zoned':
      return printZoned(bytes, from, from - BEHIND_UTC, into, at);
    case 'int8':
      return printInt64(bytes, from, into, at);
    case 'boolean':
      return copy(bytes[from] === 1 ? TRUE : FALSE, into, at);
    case 'int2':
      return printInt32(int16At(bytes, from), into, at);
    case 'date':
      return printDate(bytes, from, into, at);
    case 'timestamp':
      return printTimestamp(bytes, from, into, at);
    case 'instant':
      return printInstant(bytes, from, into, at);
    case 'utc':
      return at;
  }
}

/** False for `NaN`, `Infinity` and `-Infinity`, which JSON does not have. */
function isNumber(bytes: Buffer, from: number): boolean {
  const first = bytes[from] as number;
  return isDigit(first) || (first === MINUS && isDigit(bytes[from + 1] as number));
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}
