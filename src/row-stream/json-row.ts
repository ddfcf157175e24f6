/**
 * Prints rows as JSON from their columns: the bytes that row_to_json() would give. PostgreSQL needs twice the time for a
 * row if it does that itself, mostly to look up again for every value how its type is printed (docs/performance.md).
 */
import { types } from 'pg';
import type { Printer } from './body-blocks';
import { BINARY, type Format, TEXT } from '../pg-pipeline';
import { printDate, printInstant, printTimestamp, printZoned } from './binary-times';
import { int16At, int32At, printHex, printInt32, printInt64, printUuid } from './binary-values';

/**
 * How a value becomes JSON. What comes as text: as it is (`json`); as it is unless it is no number, as `NaN`; in quotes.
 * What comes in binary format: by its type. A timestamp with time zone comes twice, as it is (`utc`, which prints nothing)
 * and behind that in the session's zone (`zoned`); or as it is, to be printed as Date.toISOString() does it (`instant`).
 */
export type JsonForm =
  | 'json'
  | 'number'
  | 'text'
  | 'boolean'
  | 'int2'
  | 'int4'
  | 'int8'
  | 'uuid'
  | 'date'
  | 'timestamp'
  | 'utc'
  | 'zoned'
  | 'instant';

export interface JsonColumn {
  /** Null: nothing is printed of it. */
  readonly name: string | null;
  readonly form: JsonForm;
}

const { builtins } = types;

/** Types by form, and the format in which their values are asked for. */
const FORMS: Readonly<Record<JsonForm, { readonly format: Format; readonly oids: readonly number[] }>> = {
  json: { format: TEXT, oids: [builtins.JSON, builtins.JSONB] },
  number: { format: TEXT, oids: [builtins.FLOAT4, builtins.FLOAT8, builtins.NUMERIC] },
  text: { format: BINARY, oids: [builtins.TEXT, builtins.VARCHAR, builtins.BPCHAR] },
  boolean: { format: BINARY, oids: [builtins.BOOL] },
  int2: { format: BINARY, oids: [builtins.INT2] },
  int4: { format: BINARY, oids: [builtins.INT4] },
  int8: { format: BINARY, oids: [builtins.INT8] },
  uuid: { format: BINARY, oids: [builtins.UUID] },
  date: { format: BINARY, oids: [builtins.DATE] },
  timestamp: { format: BINARY, oids: [builtins.TIMESTAMP] },
  utc: { format: BINARY, oids: [builtins.TIMESTAMPTZ] },
  zoned: { format: BINARY, oids: [builtins.TIMESTAMP] },
  instant: { format: BINARY, oids: [builtins.TIMESTAMPTZ] },
};

/** PostgreSQL's own types, as format_type() writes them without length and precision. */
const FORM_BY_NAME: ReadonlyMap<string, JsonForm> = new Map([
  ['boolean', 'boolean'],
  ['bigint', 'int8'],
  ['smallint', 'int2'],
  ['integer', 'int4'],
  ['real', 'number'],
  ['double precision', 'number'],
  ['numeric', 'number'],
  ['text', 'text'],
  ['bpchar', 'text'],
  ['character', 'text'],
  ['character varying', 'text'],
  ['uuid', 'uuid'],
  ['json', 'json'],
  ['jsonb', 'json'],
  ['date', 'date'],
  ['timestamp without time zone', 'timestamp'],
  ['timestamp with time zone', 'zoned'],
]);

/**
 * @param type as format_type() writes it: `numeric(5,2)`, but also `numeric(5,2)[]`
 * @returns null where PostgreSQL has to make JSON of it (arrays, records, intervals ...)
 */
export function jsonFormOf(type: string): JsonForm | null {
  return FORM_BY_NAME.get(type.replace(/\([^)]*\)/, '')) ?? null;
}

const NULL = Buffer.from('null');
const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const CLOSING_BRACE = 0x7d;
const ZERO = 0x30;
const NINE = 0x39;
const MINUS = 0x2d;
const LETTER_U = 0x75;

/** By byte: 0 where it stands for itself, the letter behind the backslash, or `u` for \u00.. (RFC 8259, 7). */
const ESCAPES = escapes();
/** Bytes of the longest escape sequence. */
const LONGEST_ESCAPE = 6;
/** Bytes of a row or value up to which room for the worst case costs less than looking. */
const SMALL = 4 * 1024;
/** Bytes between a timestamp and the same in the session's zone: its own, and the other's length. */
export const BEHIND_UTC = 12;
/** Bytes from which native copying pays. */
const LONG = 128;

export class JsonRow {
  /** What stands before each value: `{"id":`, `,"name":`, or nothing. */
  readonly keys: readonly Buffer[];
  /** In which the columns are asked for. */
  readonly formats: readonly Format[];
  /** All that is not made of values. */
  private readonly fixed: number;

  /** @param columns at least one with a name */
  constructor(readonly columns: readonly JsonColumn[]) {
    const first = columns.findIndex(({ name }) => name !== null);
    this.keys = columns.map(({ name }, index) =>
      Buffer.from(name === null ? '' : `${index === first ? '{' : ','}${JSON.stringify(name)}:`),
    );
    this.formats = columns.map(({ form }) => FORMS[form].format);
    // Quotes or a word, which may be longer than the value, and the brace.
    this.fixed = this.keys.reduce((sum, key) => sum + key.length + NULL.length, 1);
  }

  /** Whether columns of these types (OIDs) look as this expects them. */
  fits(types: readonly number[]): boolean {
    return (
      types.length === this.columns.length &&
      this.columns.every(({ form }, index) => FORMS[form].oids.includes(types[index] as number))
    );
  }

  /** Bytes that print() writes at most. */
  mostBytes(bytes: Buffer, start: number, end: number): number {
    return this.fixed + mostEscaped(bytes, start, end);
  }

  /**
   * @param bytes a row's columns as PostgreSQL sends them, from `start`: the length of each in four bytes, and its value
   * @param into has room for mostBytes() from `at`
   * @returns where the row ends there
   */
  print(bytes: Buffer, start: number, into: Buffer, at: number): number {
    let from = start;
    let to = at;
    for (let index = 0; index < this.columns.length; index += 1) {
      const { form } = this.columns[index] as JsonColumn;
      const length = int32At(bytes, from);
      const end = from + 4 + Math.max(0, length);
      if (form !== 'utc') {
        to = copy(this.keys[index] as Buffer, into, to);
        to = length < 0 ? copy(NULL, into, to) : printValue(form, bytes, from + 4, end, into, to);
      }
      from = end;
    }
    into[to] = CLOSING_BRACE;
    return to + 1;
  }
}

/** Prints the inside of a text, or a part of it cut anywhere. */
export const TEXT_PART: Printer = { mostBytes: mostEscaped, print: printEscaped };

/** Prints a whole value of a form whose values are short. */
export function valuePrinter(form: JsonForm): Printer {
  return {
    mostBytes: mostEscaped,
    print: (bytes, start, into, at, end) => printValue(form, bytes, start, end, into, at),
  };
}

/**
 * Enough for values in binary format, too: none prints more than six bytes for each of its own, and in a large row each
 * grows by less than its length's four bytes count here, which are escapes (a zoned one has two lengths).
 */
function mostEscaped(bytes: Buffer, start: number, end: number): number {
  const length = end - start;
  if (length <= SMALL) return LONGEST_ESCAPE * length;
  let more = 0;
  for (let at = start; at < end; at += 1) {
    const escape = ESCAPES[bytes[at] as number];
    if (escape !== 0) more += escape === LETTER_U ? LONGEST_ESCAPE - 1 : 1;
  }
  return length + more;
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

function printText(bytes: Buffer, from: number, end: number, into: Buffer, at: number): number {
  into[at] = QUOTE;
  const to = printEscaped(bytes, from, into, at + 1, end);
  into[to] = QUOTE;
  return to + 1;
}

function printEscaped(bytes: Buffer, from: number, into: Buffer, at: number, end: number): number {
  let to = at;
  for (let index = from; index < end; index += 1) {
    const byte = bytes[index] as number;
    const escape = ESCAPES[byte] as number;
    if (escape === 0) {
      into[to++] = byte;
      continue;
    }
    into[to++] = BACKSLASH;
    into[to++] = escape;
    if (escape === LETTER_U) {
      into[to++] = ZERO;
      into[to++] = ZERO;
      to = printHex(byte, into, to);
    }
  }
  return to;
}

/** `NaN`, `Infinity` and `-Infinity` are numbers to PostgreSQL, but not to JSON. */
function isNumber(bytes: Buffer, from: number): boolean {
  const first = bytes[from] as number;
  return isDigit(first) || (first === MINUS && isDigit(bytes[from + 1] as number));
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

function copyPart(bytes: Buffer, from: number, end: number, into: Buffer, at: number): number {
  if (end - from >= LONG) return at + bytes.copy(into, at, from, end);
  let to = at;
  for (let index = from; index < end; index += 1) into[to++] = bytes[index] as number;
  return to;
}

function copy(bytes: Buffer, into: Buffer, at: number): number {
  return copyPart(bytes, 0, bytes.length, into, at);
}

function escapes(): Uint8Array {
  const table = new Uint8Array(256);
  table.fill(LETTER_U, 0, 0x20);
  for (const [character, letter] of ['\bb', '\ff', '\nn', '\rr', '\tt', '""', '\\\\']) {
    table[(character as string).charCodeAt(0)] = (letter as string).charCodeAt(0);
  }
  return table;
}
