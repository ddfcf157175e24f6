/** The operation of a filter: `eq.5`, `not.in.(1,2)`, `like(any).{a*,b*}`, `wfts(english).fat rat`. */
import { identifier, quotedText } from './names';
import {
  IS_VALUES,
  type IsValue,
  PLAIN_OPERATORS,
  QUANTIFIABLE_OPERATORS,
  type Quantifier,
  QUANTIFIERS,
  TEXT_SEARCH_OPERATORS,
} from './operators';
import { Scanner } from './scanner';
import type { Filter, Operation, AtPath } from './tree';
import type { Budget } from './budget';
import { QueryParts } from './query-values';
import { fieldPath } from './field';

/** Reads the one value of an operator: to the end in a parameter, to the next `,` or `)` inside `and`/`or`. */
export type ValueReader = (scanner: Scanner) => string;

const OPERATOR = 'operator (eq, gt, ...)';
const NOT = '"not"';
const IS_VALUE = 'isVal: (null, not_null, true, false, unknown)';
/** Plinth also has `not.null`; PostgREST has `not_null` only. */
const IS_NOT_NULL: readonly string[] = ['not_null', 'not.null'];
const ALL_OPERATORS: readonly string[] = [
  ...QUANTIFIABLE_OPERATORS.words,
  ...PLAIN_OPERATORS.words,
  ...TEXT_SEARCH_OPERATORS.words,
  'in',
  'is',
];

/**
 * An operation with its optional `not.`. Example: `/items?id=not.in.(2,4,6)`
 * @throws GrammarError PL100
 */
export function operation(scanner: Scanner, value: ValueReader): Pick<Filter, 'negated' | 'operation'> {
  const negated = scanner.eat('not.');
  const start = scanner.pos;
  const word = scanner.takeWhile((code) => code >= 0x61 && code <= 0x7a);
  const taken = (parsed: Operation): Pick<Filter, 'negated' | 'operation'> => ({
    negated,
    operation: parsed,
  });
  if (word === 'in' && scanner.eat('.')) {
    return taken({ kind: 'in', operator: 'in', value: scanner.takeValue(listValues) });
  }
  if (word === 'is' && scanner.eat('.')) {
    return taken({ kind: 'is', operator: 'is', keyword: isValue(scanner) });
  }
  if (PLAIN_OPERATORS.has(word) && scanner.eat('.')) {
    return taken({ kind: 'plain', operator: word, value: scanner.takeValue(value) });
  }
  if (TEXT_SEARCH_OPERATORS.has(word)) {
    const language = scanner.eat('(') ? languageName(scanner) : null;
    operatorDot(scanner);
    return taken({ kind: 'text-search', operator: word, language, value: scanner.takeValue(value) });
  }
  if (QUANTIFIABLE_OPERATORS.has(word)) {
    const quantifier = scanner.eat('(') ? anyOrAll(scanner) : null;
    operatorDot(scanner);
    return taken({ kind: 'quantified', operator: word, quantifier, value: scanner.takeValue(value) });
  }
  return unknownOperator(scanner, start, negated);
}

/** Example: `/simple_pk?k=like(any).{*yan,*ang}` */
function anyOrAll(scanner: Scanner): Quantifier {
  const quantifier = QUANTIFIERS.words.find((word) => scanner.eat(`${word})`));
  return quantifier ?? scanner.fail([OPERATOR]);
}

/** Example: `/tsearch?text_search_vector=fts(french).amusant` */
function languageName(scanner: Scanner): string {
  const name = identifier(scanner, [OPERATOR]);
  if (!scanner.eat(')')) scanner.fail([OPERATOR]);
  return name;
}

function operatorDot(scanner: Scanner): void {
  if (!scanner.eat('.')) scanner.fail([OPERATOR]);
}

/** Example: `/chores?done=is.UnKnOwN`; Plinth's `/todos?done=is.not.null` */
function isValue(scanner: Scanner): IsValue {
  const ahead = scanner.text.slice(scanner.pos, scanner.pos + 'not_null'.length).toLowerCase();
  const matched = [...IS_NOT_NULL, ...IS_VALUES.words].find((word) => ahead.startsWith(word));
  if (matched === undefined) return scanner.fail([IS_VALUE]);
  scanner.pos += matched.length;
  return IS_VALUES.has(matched) ? matched : 'not_null';
}

/** Reports the error after the longest known operator at `start`, or else at `start`. */
function unknownOperator(scanner: Scanner, start: number, negated: boolean): never {
  scanner.pos = start;
  const known = ALL_OPERATORS.filter((word) => scanner.isAt(word)).map((word) => word.length);
  if (known.length > 0) {
    scanner.pos += Math.max(...known);
    scanner.fail([OPERATOR]);
  }
  return negated ? scanner.fail([OPERATOR]) : scanner.fail([NOT, OPERATOR], scanner.mismatch('not'));
}

/**
 * Parses one parameter; name and value are already decoded.
 * Example: `/clients?select=id,projects(id,tasks(id,name))&projects.tasks.name=like.Design*`
 * @throws GrammarError PL100
 */
export function parseFilter(
  name: string,
  value: string,
  budget?: Budget,
  parts = new QueryParts(),
): AtPath<Filter> {
  parts.add(name);
  const { path, node: field } = fieldPath(name);
  const scanner = new Scanner(value, { what: 'filter' }, budget, parts);
  scanner.budget.takeTerm();
  const parsed = operation(scanner, restOfText);
  scanner.expectEnd();
  parts.endText(value);
  return { path, node: { kind: 'filter', field, ...parsed } };
}

/** Values of filters, as texts: PostgreSQL converts them to the column's type. */
const CH_QUOTE = 0x22;
const CH_OPEN_BRACE = 0x7b;
const CH_CLOSE = 0x29;
const CH_COMMA = 0x2c;

/** The value of a parameter is the rest of the text, whatever characters it has: `/jsonb_test?data=eq.{"e":1}` */
function restOfText(scanner: Scanner): string {
  const value = scanner.text.slice(scanner.pos);
  scanner.pos = scanner.text.length;
  return value;
}

/**
 * A value inside `and`/`or` ends at `,` or `)`, unless it is quoted or a flat array literal.
 * Examples: `/grandchild_entities?or=(name.eq."(grandchild,entity,4)",id.eq.5)`,
 * `/entities?or=(arr.cs.{1,2,3},id.eq.1)`
 */
export function valueInList(scanner: Scanner): string {
  return quotedValue(scanner) ?? arrayLiteral(scanner) ?? plainValue(scanner);
}

/**
 * The values of `in`, in parentheses. A quoted value may contain anything; in an unquoted one blanks, `"` and
 * `\` are ordinary characters.
 * Example: `/w_or_wo_comma_names?name=in.(David White,"Hebdon, John")`. `in.()` is an empty list.
 * @throws GrammarError PL100
 */
function listValues(scanner: Scanner): readonly string[] {
  scanner.skipBlanks();
  scanner.expect('(');
  scanner.skipBlanks();
  const values: string[] = [];
  const empty = scanner.peek() === CH_CLOSE;
  if (!empty) {
    do values.push(quotedValue(scanner) ?? plainValue(scanner));
    while (scanner.eat(','));
  }
  scanner.expect(')', ['","']);
  scanner.skipBlanks();
  return values;
}

/** Quotes have a meaning only if they enclose the whole value: `in.("a"b)` has the single value `"a"b`. */
function quotedValue(scanner: Scanner): string | null {
  if (scanner.peek() !== CH_QUOTE) return null;
  const start = scanner.pos;
  const value = quotedText(scanner);
  if (value !== null && (scanner.atEnd || scanner.peek() === CH_COMMA || scanner.peek() === CH_CLOSE)) {
    return value;
  }
  scanner.pos = start;
  return null;
}

/** `{1,2}` with its braces. Nested braces are not matched, as in PostgREST: quote such a value. */
function arrayLiteral(scanner: Scanner): string | null {
  if (scanner.peek() !== CH_OPEN_BRACE) return null;
  for (let at = scanner.pos + 1; at < scanner.text.length; at += 1) {
    const code = scanner.text.charCodeAt(at);
    if (code === CH_OPEN_BRACE) return null;
    if (code !== 0x7d) continue;
    const literal = scanner.text.slice(scanner.pos, at + 1);
    scanner.pos = at + 1;
    return literal;
  }
  return null;
}

function plainValue(scanner: Scanner): string {
  return scanner.takeWhile((code) => code !== CH_COMMA && code !== CH_CLOSE);
}
