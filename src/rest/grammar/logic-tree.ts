/** `and` and `or`: filters combined and nested. */
import { assertDepth, type Budget } from './budget';
import { field, MORE_OF_FIELD } from './field';
import { operation, valueInList } from './operation';
import { LOGIC_OPERATORS, type LogicOperator } from './operators';
import { QueryParts } from './query-values';
import { quote, Scanner } from './scanner';
import type { Filter, LogicGroup, LogicTree } from './tree';

const NOT_OR_OPERATOR = ['negation operator (not)', 'logic operator (and, or)'];
const OR_COMMA = ['","'];

export interface LogicHead {
  readonly operator: LogicOperator;
  readonly negated: boolean;
}

/**
 * Parses the value of an `and` or `or` parameter, whose name gives `head`.
 * Example: `/entities?or=(id.eq.1,not.and(name.eq.x,id.in.(2,3)))`
 * @throws GrammarError PL100, PL152 for deep nesting, PL153 for too many terms.
 */
export function parseLogicTree(
  head: LogicHead,
  text: string,
  budget?: Budget,
  parts = new QueryParts(),
): LogicGroup {
  // Error messages count columns from the operator, so the text begins with it, as in nested groups.
  const whole = `${head.negated ? 'not.' : ''}${head.operator}${text}`;
  const scanner = new Scanner(whole, { what: 'logic tree', shown: text }, budget, parts);
  scanner.pos = whole.length - text.length;
  const tree = group(scanner, head, 0);
  scanner.expectEnd();
  parts.endText(whole);
  return tree;
}

/** The cursor is after the operator. Example: `( id.eq.1 , or ( id.eq.2 , id.eq.3 ) )` */
function group(scanner: Scanner, { operator, negated }: LogicHead, depth: number): LogicGroup {
  assertDepth(depth);
  scanner.budget.takeTerm();
  const terms: LogicTree[] = [];
  scanner.skipBlanks();
  scanner.expect('(');
  do {
    scanner.skipBlanks();
    terms.push(term(scanner, depth));
    scanner.skipBlanks();
  } while (scanner.eat(','));
  scanner.expect(')', OR_COMMA);
  scanner.skipBlanks();
  return { kind: 'group', operator, negated, terms };
}

function term(scanner: Scanner, depth: number): LogicTree {
  const start = scanner.pos;
  const negated = scanner.eat('not.');
  const operator = LOGIC_OPERATORS.words.find((word) => scanner.eat(word));
  if (operator !== undefined) {
    const behind = scanner.pos;
    scanner.skipBlanks();
    if (scanner.isAt('(')) return group(scanner, { operator, negated }, depth + 1);
    scanner.pos = behind;
  }
  const suspect = operator === undefined ? null : scanner.pos;
  scanner.pos = start;
  return filter(scanner, suspect);
}

/**
 * A column, a dot and an operation. A column may have the name `and`, `or` or `not`.
 * Example: `/grandchild_entities?or=(and_starting_col.eq.smth,jsonb_col->a->>b.eq.foo)`
 * @param suspect position of a missing `(` after `and` or `or`, if the term begins with that word
 */
function filter(scanner: Scanner, suspect: number | null): Filter {
  scanner.budget.takeTerm();
  const column = field(scanner, NOT_OR_OPERATOR);
  if (!scanner.eat('.')) {
    if (suspect !== null) scanner.pos = suspect;
    scanner.fail(suspect !== null ? [quote('(')] : [...MORE_OF_FIELD, 'delimiter (.)']);
  }
  const parsed = operation(scanner, valueInList);
  return { kind: 'filter', field: column, ...parsed };
}
