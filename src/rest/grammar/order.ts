/** The `order` parameter. */
import type { Budget } from './budget';
import { field, MORE_OF_FIELD } from './field';
import { NULLS_ORDERS, type NullsOrder, ORDER_DIRECTIONS, type OrderDirection } from './operators';
import { END_OF_INPUT, Scanner } from './scanner';
import type { OrderTerm } from './tree';

const CH_COMMA = 0x2c;
const END = ['","', END_OF_INPUT];
const DOT = 'delimiter (.)';

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
    scanner.budget.take('terms');
    terms.push(term(scanner));
  } while (scanner.eat(','));
  return terms;
}

function term(scanner: Scanner): OrderTerm {
  const column = field(scanner);
  if (column.path.length === 0 && scanner.eat('(')) {
    const related = field(scanner);
    scanner.expect(')');
    return { kind: 'related', relation: column.name, field: related, ...directionAndEnd(scanner, []) };
  }
  const more = column.path.length === 0 ? MORE_OF_FIELD : [];
  return { kind: 'field', field: column, ...directionAndEnd(scanner, more) };
}

/** Example: `/no_pk?order=a.desc.nullslast`, `/no_pk?order=a.nullsfirst` */
function directionAndEnd(scanner: Scanner, more: readonly string[]): Direction {
  if (!scanner.eat('.')) {
    endOfTerm(scanner, [...more, DOT]);
    return { direction: null, nulls: null };
  }
  const word = firstWord(scanner);
  if (NULLS_ORDERS.has(word)) {
    endOfTerm(scanner, []);
    return { direction: null, nulls: word };
  }
  if (!scanner.eat('.')) {
    endOfTerm(scanner, [DOT]);
    return { direction: word, nulls: null };
  }
  const nulls = scanner.expectWord(NULLS_ORDERS.words);
  endOfTerm(scanner, []);
  return { direction: word, nulls };
}

function firstWord(scanner: Scanner): OrderDirection | NullsOrder {
  return scanner.expectWord([...ORDER_DIRECTIONS.words, ...NULLS_ORDERS.words]);
}

function endOfTerm(scanner: Scanner, otherwise: readonly string[]): void {
  scanner.skipBlanks();
  if (!scanner.atEnd && scanner.peek() !== CH_COMMA) scanner.fail([...otherwise, ...END]);
}
