/** A filter parameter: `clients.data->>id=not.eq.5` */
import type { Budget } from './budget';
import { QueryParts } from './query-values';
import { fieldPath } from './embed-path';
import { operation } from './operation';
import { Scanner } from './scanner';
import type { AtPath, Filter } from './tree';
import { restOfText } from './value';

/**
 * Parses one parameter; name and value are decoded already.
 * Example: `/clients?select=id,projects(id,tasks(id,name))&projects.tasks.name=like.Design*`
 * @throws GrammarError PL100
 */
export function parseFilter(
  name: string,
  value: string,
  budget?: Budget,
  parts = new QueryParts(),
): AtPath<Filter> {
  const { path, node: field } = fieldPath(name);
  const scanner = new Scanner(value, { what: 'filter' }, budget, parts);
  scanner.budget.takeTerm();
  const parsed = operation(scanner, restOfText);
  scanner.expectEnd();
  parts.endText(value);
  return { path, node: { kind: 'filter', field, ...parsed } };
}
