/** A column and a path into its value: `data`, `data->foo->>0`, `numbers_mult->1->2`. */
import { tooMany, LIMITS } from './budget';
import { atDash, fieldName, quotedText, trimPieces } from './names';
import { END_OF_INPUT, NOTHING_ELSE, Scanner } from './scanner';
import type { Field, JsonStep, AtPath, EmbedPath } from './tree';

const NO_STEPS: readonly JsonStep[] = [];
const KEY = 'any non reserved character different from: .,>()';
const AFTER_INDEX = ['digit', '"->"', '"::"', '"."', '","', END_OF_INPUT];
const INT4_MAX = 2_147_483_647;

/** Tokens that may follow an unfinished name, for error messages. */
export const MORE_OF_FIELD = ['letter', 'digit', '"-"', '"->>"', '"->"'] as const;

const CH_QUOTE = 0x22;
const CH_DASH = 0x2d;

/** Example: `/json_table?data->foo->>bar=eq.baz`. Blanks around the field are skipped. */
export function field(scanner: Scanner, otherwise = NOTHING_ELSE): Field {
  scanner.skipBlanks();
  const name = fieldName(scanner, otherwise);
  const path = jsonPath(scanner);
  scanner.skipBlanks();
  return { name, path };
}

/**
 * Any number of arrows. Example: `/json_arr?select=data->0->0xy1->1->23-xy-45->1->xy-6->>0::int`
 * @throws GrammarError PL100, and PL153 for more arrows than LIMITS.jsonSteps.
 */
export function jsonPath(scanner: Scanner): readonly JsonStep[] {
  if (!scanner.isAt('->')) return NO_STEPS;
  const steps: JsonStep[] = [];
  for (;;) {
    const asText = scanner.eat('->>');
    if (!asText && !scanner.eat('->')) return steps;
    if (steps.length === LIMITS.jsonSteps) throw tooMany('steps in a JSON path', LIMITS.jsonSteps);
    steps.push(jsonIndex(scanner, asText) ?? { kind: 'key', asText, key: jsonKey(scanner) });
  }
}

/**
 * Only well-formed numbers are indexes: `->0`, `->-1`; `->0xy1` and `->23-xy` are keys. Unlike in PostgREST,
 * a `)` may follow an index; otherwise an index at the end of an embed would be read as a key:
 * `/clients?select=projects(data->0)`
 */
function jsonIndex(scanner: Scanner, asText: boolean): JsonStep | null {
  const start = scanner.pos;
  const negative = scanner.peek() === CH_DASH;
  if (negative) scanner.pos += 1;
  const digits = scanner.takeWhile((code) => code >= 0x30 && code <= 0x39);
  if (negative && digits === '') scanner.fail(['digit']);
  if (digits !== '' && endsIndex(scanner)) {
    const index = Number(negative ? `-${digits}` : digits);
    if (Math.abs(index) > INT4_MAX) scanner.fail([`an index up to ${INT4_MAX} before this`]);
    return { kind: 'index', asText, index };
  }
  if (negative) scanner.fail(AFTER_INDEX);
  scanner.pos = start;
  return null;
}

function endsIndex(scanner: Scanner): boolean {
  const stop = scanner.pos;
  scanner.skipBlanks();
  const ends = scanner.atEnd || ['->', '::', '.', ',', ')'].some((token) => scanner.isAt(token));
  scanner.pos = stop;
  return ends;
}

/** Example: `/json_arr?select=data->!@#$%^&*_d->>"a.b"` */
function jsonKey(scanner: Scanner): string {
  if (scanner.peek() === CH_QUOTE) {
    const quoted = quotedText(scanner);
    if (quoted !== null) return quoted;
    scanner.pos = scanner.text.length;
    scanner.fail(['the closing "\\"" of a quoted key']);
  }
  const start = scanner.pos;
  for (;;) {
    if (scanner.takeWhile(isKeyCode) === '') scanner.fail(['"-"', 'digit', KEY]);
    if (!atDash(scanner)) break;
    scanner.pos += 1;
  }
  return trimPieces(scanner.text.slice(start, scanner.pos));
}

/** Every character except `(`, `-`, `:`, `.`, `,`, `>` and `)`; a key consists of such characters, joined by single dashes. */
function isKeyCode(code: number): boolean {
  switch (code) {
    case 0x28:
    case 0x29:
    case 0x2c:
    case 0x2d:
    case 0x2e:
    case 0x3a:
    case 0x3e:
      return false;
    default:
      return true;
  }
}

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

/** The key of an embed path in maps of levels. */
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
