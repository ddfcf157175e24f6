/** The `order` parameter. */
import type { Budget } from './budget';
import { field, MORE_OF_FIELD } from './field';
import { NULLS_ORDERS, type NullsOrder, ORDER_DIRECTIONS, type OrderDirection } from './operators';
import { END_OF_INPUT, Scanner } from './scanner';
import type { OrderTerm } from './tree';

const CH_COMMA = 0x2c;
const AFTER_NULLS = ['","', END_OF_INPUT];
const AFTER_DIRECTION = ['delimiter (.)', ...AFTER_NULLS];
const AFTER_NAME = [...MORE_OF_FIELD, ...AFTER_DIRECTION];
const DIRECTION_OR_NULLS = [...ORDER_DIRECTIONS.words, ...NULLS_ORDERS.words];

interface Direction {
  readonly direction: OrderDirection | null;
  readonly nulls: NullsOrder | null;
}

/**
 * Parses the value of `order`, decoded; never empty.
 * Example: `/projects?select=*,clients(name)&order=clients(data->name).desc.nullsfirst,id`
 * @throws GrammarError PL100, PL153 for too many terms.
 */
export function parseOrder(text: string, budget?: Budget): readonly OrderTerm[] {
  const scanner = new Scanner(text, { what: 'order' }, budget);
  const terms: OrderTerm[] = [];
  do {
    scanner.budget.takeTerm();
    terms.push(term(scanner));
  } while (scanner.eat(','));
  return terms;
}

function term(scanner: Scanner): OrderTerm {
  const column = field(scanner);
  if (column.path.length === 0 && scanner.eat('(')) {
    const related = field(scanner);
    scanner.expect(')');
    return {
      kind: 'related',
      relation: column.name,
      field: related,
      ...directionAndEnd(scanner, AFTER_DIRECTION),
    };
  }
  const expected = column.path.length === 0 ? AFTER_NAME : AFTER_DIRECTION;
  return { kind: 'field', field: column, ...directionAndEnd(scanner, expected) };
}

/** Example: `/no_pk?order=a.desc.nullslast`, `/no_pk?order=a.nullsfirst` */
function directionAndEnd(scanner: Scanner, expected: readonly string[]): Direction {
  if (!scanner.eat('.')) {
    endOfTerm(scanner, expected);
    return { direction: null, nulls: null };
  }
  const word = scanner.expectWord(DIRECTION_OR_NULLS);
  if (NULLS_ORDERS.has(word)) {
    endOfTerm(scanner, AFTER_NULLS);
    return { direction: null, nulls: word };
  }
  if (!scanner.eat('.')) {
    endOfTerm(scanner, AFTER_DIRECTION);
    return { direction: word, nulls: null };
  }
  const nulls = scanner.expectWord(NULLS_ORDERS.words);
  endOfTerm(scanner, AFTER_NULLS);
  return { direction: word, nulls };
}

function endOfTerm(scanner: Scanner, expected: readonly string[]): void {
  scanner.skipBlanks();
  if (!scanner.atEnd && scanner.peek() !== CH_COMMA) scanner.fail(expected);
}
