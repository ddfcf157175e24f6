/** The operation of a filter: `eq.5`, `not.in.(1,2)`, `like(any).{a*,b*}`, `wfts(english).fat rat`. */
import { identifier } from './names';
import {
  IS_VALUES,
  type IsValue,
  PLAIN_OPERATORS,
  QUANTIFIABLE_OPERATORS,
  type Quantifier,
  QUANTIFIERS,
  TEXT_SEARCH_OPERATORS,
} from './operators';
import type { Scanner } from './scanner';
import type { Filter, Operation } from './tree';
import { listValues } from './value';

/** Reads the one value of an operator: to the end in a parameter, to the next `,` or `)` inside `and`/`or`. */
export type ValueReader = (scanner: Scanner) => string;

const OPERATOR = 'operator (eq, gt, ...)';
const NOT = '"not"';
const IS_VALUE = 'isVal: (null, not_null, true, false, unknown)';
/** SPEC.md writes `not.null`; PostgREST has `not_null` only. */
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
  return { negated, operation: positiveOperation(scanner, value, negated) };
}

function positiveOperation(scanner: Scanner, value: ValueReader, negated: boolean): Operation {
  const start = scanner.pos;
  const word = scanner.takeWhile((code) => code >= 0x61 && code <= 0x7a);
  if (word === 'in' && scanner.eat('.')) {
    return { kind: 'in', operator: 'in', value: scanner.takeValue(listValues) };
  }
  if (word === 'is' && scanner.eat('.')) {
    return { kind: 'is', operator: 'is', keyword: isValue(scanner) };
  }
  if (PLAIN_OPERATORS.has(word) && scanner.eat('.')) {
    return { kind: 'plain', operator: word, value: scanner.takeValue(value) };
  }
  if (TEXT_SEARCH_OPERATORS.has(word)) {
    const language = scanner.eat('(') ? languageName(scanner) : null;
    operatorDot(scanner);
    return { kind: 'text-search', operator: word, language, value: scanner.takeValue(value) };
  }
  if (QUANTIFIABLE_OPERATORS.has(word)) {
    const quantifier = scanner.eat('(') ? anyOrAll(scanner) : null;
    operatorDot(scanner);
    return { kind: 'quantified', operator: word, quantifier, value: scanner.takeValue(value) };
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

/** Example: `/chores?done=is.UnKnOwN`; SPEC.md's `/todos?done=is.not.null` */
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
  const known = ALL_OPERATORS.filter((word) => scanner.looksAt(word)).map((word) => word.length);
  if (known.length > 0) {
    scanner.pos += Math.max(...known);
    scanner.fail([OPERATOR]);
  }
  return negated ? scanner.fail([OPERATOR]) : scanner.fail([NOT, OPERATOR], scanner.mismatch('not'));
}
