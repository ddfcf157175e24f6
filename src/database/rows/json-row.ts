/**
 * Prints rows as JSON from the texts of their columns: the bytes that row_to_json() would give, for types whose JSON is
 * their text, in quotes or without. PostgreSQL needs twice the time for a row if it does that itself, mostly to look up
 * again for every value how its type is printed (docs/performance.md).
 */
import { types } from 'pg';
import type { Printer } from '../../common/http/body-blocks';

/**
 * How a value's text becomes JSON: as it is; as it is unless it is no number (`NaN`); as a word; in quotes; or, for a
 * timestamp in UTC that to_json() wrote, cut to milliseconds and with a Z, as Date.toISOString() writes it.
 */
export type JsonForm = 'json' | 'number' | 'boolean' | 'text' | 'instant';

export interface JsonColumn {
  readonly name: string;
  readonly form: JsonForm;
}

const {
  BOOL,
  BPCHAR,
  FLOAT4,
  FLOAT8,
  INT2,
  INT4,
  INT8,
  JSON: JSON_TEXT,
  JSONB,
  NUMERIC,
  TEXT,
  UUID,
  VARCHAR,
} = types.builtins;

/** The forms of PostgreSQL's own types, as format_type() writes them without length and precision, with their OIDs. */
const TYPES: readonly (readonly [name: string, oid: number, form: JsonForm])[] = [
  ['boolean', BOOL, 'boolean'],
  ['bigint', INT8, 'number'],
  ['smallint', INT2, 'number'],
  ['integer', INT4, 'number'],
  ['real', FLOAT4, 'number'],
  ['double precision', FLOAT8, 'number'],
  ['numeric', NUMERIC, 'number'],
  ['text', TEXT, 'text'],
  ['bpchar', BPCHAR, 'text'],
  ['character', BPCHAR, 'text'],
  ['character varying', VARCHAR, 'text'],
  ['uuid', UUID, 'text'],
  ['json', JSON_TEXT, 'json'],
  ['jsonb', JSONB, 'json'],
];
const FORM_BY_NAME: ReadonlyMap<string, JsonForm> = new Map(TYPES.map(([name, , form]) => [name, form]));
const FORM_BY_OID: ReadonlyMap<number, JsonForm> = new Map(TYPES.map(([, oid, form]) => [oid, form]));

/**
 * @param type as format_type() writes it: `numeric(5,2)`, but also `numeric(5,2)[]`
 * @returns null where PostgreSQL has to make JSON of it (dates, arrays, records ...)
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
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const MINUS = 0x2d;
const LETTER_T = 0x74;
const LETTER_U = 0x75;
const Z = 0x5a;

/** By byte: 0 where it stands for itself, the letter behind the backslash, or `u` for \u00.. (RFC 8259, 7). */
const ESCAPES = escapes();
const HEX = Buffer.from('0123456789abcdef');
/** Bytes of the longest escape sequence. */
const LONGEST_ESCAPE = 6;
/** Bytes of a row up to which room for the worst case costs less than looking. */
const SMALL = 4 * 1024;
/** Bytes from which native copying pays. */
const LONG = 128;

export class JsonRow {
  /** What stands before each value: `{"id":`, `,"name":`. */
  readonly keys: readonly Buffer[];
  /** All that is not made of values. */
  private readonly fixed: number;

  /** @param columns at least one */
  constructor(readonly columns: readonly JsonColumn[]) {
    this.keys = columns.map(({ name }, index) =>
      Buffer.from(`${index === 0 ? '{' : ','}${JSON.stringify(name)}:`),
    );
    // Quotes, a word or the end of an instant, which may be longer than the text, and the brace.
    this.fixed = this.keys.reduce((sum, key) => sum + key.length + FALSE.length, 1);
  }

  /** Whether columns of these types (OIDs) look as this expects them. */
  fits(types: readonly number[]): boolean {
    return (
      types.length === this.columns.length &&
      types.every((type, index) => FORM_BY_OID.get(type) === this.columns[index]?.form)
    );
  }

  /** Bytes that print() writes at most. */
  mostBytes(bytes: Buffer, start: number, end: number): number {
    return this.fixed + mostEscaped(bytes, start, end);
  }

  /**
   * @param bytes a row's columns as PostgreSQL sends them, from `start`: the length of each in four bytes, and its text
   * @param into has room for mostBytes() from `at`
   * @returns where the row ends there
   */
  print(bytes: Buffer, start: number, into: Buffer, at: number): number {
    let from = start;
    let to = at;
    for (let index = 0; index < this.columns.length; index += 1) {
      to = copy(this.keys[index] as Buffer, into, to);
      const length = int32At(bytes, from);
      from += 4;
      if (length < 0) {
        to = copy(NULL, into, to);
        continue;
      }
      to = printValue((this.columns[index] as JsonColumn).form, bytes, from, from + length, into, to);
      from += length;
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
    mostBytes: (bytes, start, end) => FALSE.length + mostEscaped(bytes, start, end),
    print: (bytes, start, into, at, end) => printValue(form, bytes, start, end, into, at),
  };
}

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
    case 'json':
      return copyPart(bytes, from, end, into, at);
    case 'number':
      return isNumber(bytes, from)
        ? copyPart(bytes, from, end, into, at)
        : printText(bytes, from, end, into, at);
    case 'boolean':
      return copy(bytes[from] === LETTER_T ? TRUE : FALSE, into, at);
    case 'text':
      return printText(bytes, from, end, into, at);
    case 'instant':
      return printInstant(bytes, from, end, into, at);
  }
}

/** `"2026-11-21T18:31:59.04829"`: the fraction is as long as it has to be, or missing. */
function printInstant(bytes: Buffer, from: number, end: number, into: Buffer, at: number): number {
  const closing = end - 1;
  const dot = bytes.lastIndexOf(DOT, closing);
  const seconds = dot > from ? dot : closing;
  let to = copyPart(bytes, from, seconds, into, at);
  into[to++] = DOT;
  for (let digit = seconds + 1; digit <= seconds + 3; digit += 1) {
    into[to++] = digit < closing ? (bytes[digit] as number) : ZERO;
  }
  into[to++] = Z;
  into[to++] = QUOTE;
  return to;
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
      into[to++] = HEX[byte >> 4] as number;
      into[to++] = HEX[byte & 15] as number;
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

/** Without the checks of Buffer.readInt32BE(), which cost more than the reading. */
function int32At(bytes: Buffer, at: number): number {
  return (
    ((bytes[at] as number) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[at + 2] as number) << 8) |
    (bytes[at + 3] as number)
  );
}

function escapes(): Uint8Array {
  const table = new Uint8Array(256);
  table.fill(LETTER_U, 0, 0x20);
  for (const [character, letter] of ['\bb', '\ff', '\nn', '\rr', '\tt', '""', '\\\\']) {
    table[(character as string).charCodeAt(0)] = (letter as string).charCodeAt(0);
  }
  return table;
}
