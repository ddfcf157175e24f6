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

/** Dates without a time zone, and JSON of more than 512 levels, stay text. */
export function answerTypeParser(oid: number): Parser {
  return PARSERS.get(oid) ?? (types.getTypeParser(oid) as Parser);
}

function parseShallow(json: string): unknown {
  return isNestedDeeper(json, MAX_DEPTH) ? json : JSON.parse(json);
}

/** Arrays of PostgreSQL have at most six dimensions. */
function parseItems(item: unknown): unknown {
  if (Array.isArray(item)) return item.map(parseItems);
  return typeof item === 'string' ? parseShallow(item) : item;
}
