/**
 * Parameter names: a path of embeds and a column or reserved word at its end. `clients.projects.name`,
 * `clients.limit`
 */
import { tooMany } from './budget';
import { jsonPath, MORE_OF_FIELD } from './field';
import { LIMITS } from './limits';
import { fieldName } from './names';
import { END_OF_INPUT, Scanner } from './scanner';
import type { AtPath, EmbedPath, Field } from './tree';

/**
 * The column of a filter, with the embeds before it. Example: `/json_table?data->foo->>bar=eq.baz`
 * @throws GrammarError PL100, PL153
 */
export function fieldPath(parameter: string): AtPath<Field> {
  const scanner = new Scanner(parameter, { what: 'tree path' });
  const names = dottedNames(scanner);
  const path = jsonPath(scanner);
  if (!scanner.atEnd) scanner.fail([...(path.length ? ['"->>"', '"->"'] : AFTER_NAME), END_OF_INPUT]);
  const name = names.pop() ?? '';
  return { path: names, node: { name, path } };
}

const ROOT: EmbedPath = [];
const AFTER_NAME = [...MORE_OF_FIELD, 'delimiter (.)'];

/**
 * The embeds of a reserved parameter, without its own name: `/clients?projects.tasks.limit=1` gives projects,
 * tasks.
 */
export function embedPath(parameter: string): EmbedPath {
  if (!parameter.includes('.')) return ROOT;
  return namesOf(parameter, 'tree path').slice(0, -1);
}

/**
 * The embeds and the negation of `and` and `or`: any `not` in the path before the last name negates it, as in
 * PostgREST.
 * Example: `/clients?projects.not.or=(id.eq.1,id.eq.2)`
 */
export function logicPath(parameter: string): { path: EmbedPath; negated: boolean } {
  const names = namesOf(parameter, 'logic path').slice(0, -1);
  const path = names.filter((name) => name !== 'not');
  return { path, negated: path.length < names.length };
}

/** The key of a level of embeds. */
export function pathKey(path: EmbedPath): string {
  return path.length === 0 ? '' : JSON.stringify(path);
}

function namesOf(parameter: string, what: string): string[] {
  const scanner = new Scanner(parameter, { what });
  const names = dottedNames(scanner);
  if (!scanner.atEnd) scanner.fail([...AFTER_NAME, END_OF_INPUT]);
  return names;
}

function dottedNames(scanner: Scanner): string[] {
  const names = [fieldName(scanner)];
  while (scanner.eat('.')) {
    if (names.length === LIMITS.pathSegments) throw tooMany('names in a parameter', LIMITS.pathSegments);
    names.push(fieldName(scanner));
  }
  return names;
}
