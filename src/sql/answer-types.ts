/** How values of the owner's SQL are parsed for the response. */
import { types } from 'pg';
import { isNestedDeeper } from '../common/text/json';

type Parser = (text: string) => unknown;

/** Levels of JSON that are parsed. JSON.stringify() recurses, and would overflow the stack at a few thousand. */
const MAX_DEPTH = 512;

/** Types of pg_type that node-postgres has no names for. */
const [JSON_ARRAY, JSONB_ARRAY, TEXT_ARRAY] = [199, 3807, 1009];

const asText: Parser = (text) => text;
const parseTextArray = types.getTypeParser(TEXT_ARRAY) as Parser;

const PARSERS: ReadonlyMap<number, Parser> = new Map<number, Parser>([
  // A Date would interpret them in this process's time zone.
  [types.builtins.DATE, asText],
  [types.builtins.TIMESTAMP, asText],
  [types.builtins.JSON, parseShallow],
  [types.builtins.JSONB, parseShallow],
  [JSON_ARRAY, (text) => parseItems(parseTextArray(text))],
  [JSONB_ARRAY, (text) => parseItems(parseTextArray(text))],
]);

/** Characters of the values of a row that are parsed: an array of 16 MiB takes seconds. */
const MAX_PARSED = 256 * 1024;
const TEXT_TYPES = new Set<number>([types.builtins.TEXT, types.builtins.VARCHAR, types.builtins.BPCHAR]);

/** Dates without a time zone, JSON of more than 512 levels, and values past 256 KiB in a row stay text. */
export class AnswerTypes {
  private parsed = 0;

  readonly getTypeParser = (oid: number): Parser => {
    const parse = PARSERS.get(oid) ?? (types.getTypeParser(oid) as Parser);
    if (TEXT_TYPES.has(oid)) return parse;
    return (text) => {
      this.parsed += text.length;
      return this.parsed > MAX_PARSED ? text : parse(text);
    };
  };

  /** Called after each row. */
  nextRow(): void {
    this.parsed = 0;
  }
}

function parseShallow(json: string): unknown {
  return isNestedDeeper(json, MAX_DEPTH) ? json : JSON.parse(json);
}

/** Arrays of PostgreSQL have at most six dimensions. */
function parseItems(item: unknown): unknown {
  if (Array.isArray(item)) return item.map(parseItems);
  return typeof item === 'string' ? parseShallow(item) : item;
}
