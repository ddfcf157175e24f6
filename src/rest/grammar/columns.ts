/** Lists of plain column names: `columns` and `on_conflict`. */
import { Budget } from './budget';
import { fieldName } from './names';
import { Scanner } from './scanner';

/**
 * Parses the value of `columns` or `on_conflict`, without duplicates, in the client's order; never empty.
 * Example: `/articles?columns=id,body,"a,b"`
 * @throws GrammarError PL100, PL153 for too many names.
 */
export function parseColumns(
  parameter: 'columns' | 'on_conflict',
  text: string,
  budget: Budget = new Budget(),
): readonly string[] {
  const scanner = new Scanner(text, { what: `${parameter} parameter` }, budget);
  const names = new Set<string>();
  do {
    budget.takeTerm();
    scanner.skipBlanks();
    names.add(fieldName(scanner));
    scanner.skipBlanks();
  } while (scanner.eat(','));
  scanner.expectEnd(['","']);
  return [...names];
}
