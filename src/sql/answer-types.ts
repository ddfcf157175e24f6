/** Writes values of the owner's SQL as JSON, from the text that PostgreSQL prints: nothing is rounded. */
import { types } from 'pg';
import { isNestedDeeper, parseJson } from '../common/text/json';

type Writer = (text: string) => string;

/**
 * Maximum levels of JSON that are written as JSON. JSON.stringify() recurses, and would overflow the stack at
 * a few thousand levels.
 */
const MAX_DEPTH = 512;

/** Type ids from pg_type. */
const [BOOL, TEXT_ARRAY] = [16, 1009];

const asText: Writer = (text) => JSON.stringify(text);
/** JSON has no numbers for `NaN` and `Infinity`. */
const asNumber: Writer = (text) => (/^-?\d+(\.\d+)?(e[+-]\d+)?$/.test(text) ? text : asText(text));
const asBoolean: Writer = (text) => (text === 't' ? 'true' : 'false');

const SCALARS: ReadonlyMap<number, Writer> = new Map<number, Writer>([
  [BOOL, asBoolean],
  [types.builtins.INT2, asNumber],
  [types.builtins.INT4, asNumber],
  [types.builtins.OID, asNumber],
  [types.builtins.FLOAT4, asNumber],
  [types.builtins.FLOAT8, asNumber],
]);

const parseArray = types.getTypeParser(TEXT_ARRAY) as (text: string) => unknown[];
const arrayOf =
  (item: Writer): Writer =>
  (text) =>
    // JSON arrays have no bounds, so an array whose bounds do not start at 1 stays text: `[0:1]={1,2}`.
    text.startsWith('[') ? asText(text) : itemsJson(parseArray(text), item);

/** Keyed by the type ids of arrays. Arrays of other types, such as enums, stay text. */
const LARGE: ReadonlyMap<number, Writer> = new Map<number, Writer>([
  [types.builtins.JSON, asJson],
  [types.builtins.JSONB, asJson],
  ...[199, 3807].map((oid) => [oid, arrayOf(asJson)] as const),
  [1000, arrayOf(asBoolean)],
  // int2, int4, oid, float4, float8
  ...[1005, 1007, 1028, 1021, 1022].map((oid) => [oid, arrayOf(asNumber)] as const),
  // bytea, char, text, bpchar, varchar, int8, point, inet, cidr, macaddr, timestamp, date, time, timestamptz, interval,
  // numeric, timetz, money, uuid, numrange
  ...[
    1001,
    1002,
    TEXT_ARRAY,
    1014,
    1015,
    1016,
    1017,
    1041,
    651,
    1040,
    1115,
    1182,
    1183,
    1185,
    1187,
    1231,
    1270,
    791,
    2951,
    3907,
  ].map((oid) => [oid, arrayOf(asText)] as const),
]);

/** Maximum characters of the arrays and JSON values in a row that are parsed: an array of 16 MiB takes seconds. */
const MAX_PARSED = 256 * 1024;

/** Writes the values of rows. JSON of more than 512 levels, and arrays and JSON beyond 256 KiB in a row, are written as text. */
export class AnswerTypes {
  private parsed = 0;

  /** @param textValues true: every value is written as text, except booleans and null */
  constructor(private readonly textValues: boolean) {}

  readonly getTypeParser = (oid: number): Writer => {
    if (this.textValues) return oid === BOOL ? asBoolean : asText;
    const write = LARGE.get(oid);
    if (write === undefined) return SCALARS.get(oid) ?? asText;
    return (text) => {
      this.parsed += text.length;
      return this.parsed > MAX_PARSED ? asText(text) : write(text);
    };
  };

  /** Called after each row. */
  nextRow(): void {
    this.parsed = 0;
  }
}

/** The text itself: its numbers may have more digits than a double can hold. */
function asJson(text: string): string {
  return isNestedDeeper(text, MAX_DEPTH) || parseJson(text) === undefined ? asText(text) : text;
}

/** Arrays of PostgreSQL have at most six dimensions. */
function itemsJson(items: readonly unknown[], write: Writer): string {
  const texts = items.map((item) => {
    if (Array.isArray(item)) return itemsJson(item, write);
    return typeof item === 'string' ? write(item) : 'null';
  });
  return `[${texts.join(',')}]`;
}
