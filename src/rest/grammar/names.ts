/**
 * Names of columns, relations, aliases, hints, casts and languages. An unquoted name consists of letters,
 * digits, `_`, `$`, inner spaces and, except in casts and languages, dashes. Other names need double quotes,
 * with `\` before `"` and `\`.
 */
import { NOTHING_ELSE, Scanner } from './scanner';
import { Budget } from './budget';

const FIELD_NAME = 'field name (* or [a..z0..9_$])';
/**
 * Letters, combining marks and digits of any script. PostgREST allows no marks and so needs quotes for Hindi
 * names.
 */
const ANY_SCRIPT = /[\p{L}\p{M}\p{N}_ $]+/uy;

const CH_SPACE = 0x20;
const CH_DOLLAR = 0x24;
const CH_DASH = 0x2d;
const CH_GREATER = 0x3e;
const CH_QUOTE = 0x22;
const CH_BACKSLASH = 0x5c;
const CH_UNDERSCORE = 0x5f;

/**
 * A name that may be quoted. Examples: `/complex_items?select=id,field-with_sep`,
 * `/pgrst_reserved_chars?select="a.dotted.column"`
 * @throws GrammarError PL100
 */
export function fieldName(scanner: Scanner, otherwise = NOTHING_ELSE): string {
  if (scanner.peek() === CH_QUOTE) return quotedName(scanner);
  const start = scanner.pos;
  let dashed = false;
  for (;;) {
    const pieceStart = scanner.pos;
    skipIdentifier(scanner);
    if (scanner.pos === pieceStart) scanner.fail(dashed ? ['letter', 'digit'] : [FIELD_NAME, ...otherwise]);
    if (!atDash(scanner)) break;
    scanner.pos += 1;
    dashed = true;
  }
  const name = trimPieces(scanner.text.slice(start, scanner.pos));
  return name === '' ? scanner.fail([FIELD_NAME, ...otherwise]) : name;
}

/**
 * A name without quotes and dashes: a cast (`select=id::double precision`) or a text search language (`fts(french)`).
 * Only the database knows whether it exists, so it must not be printed into SQL unchecked.
 * @throws GrammarError PL100 with `expected` in its message.
 */
export function identifier(scanner: Scanner, expected: readonly string[]): string {
  const start = scanner.pos;
  skipIdentifier(scanner);
  const name = scanner.text.slice(start, scanner.pos).trim();
  return name === '' ? scanner.fail(expected) : name;
}

/**
 * Text in double quotes at the cursor, unescaped: a backslash escapes the character after it. Returns null
 * without moving the cursor if there is no closing quote: in values a single `"` is an ordinary character.
 */
export function quotedText(scanner: Scanner): string | null {
  const { text } = scanner;
  let out = '';
  let from = scanner.pos + 1;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === CH_QUOTE) {
      scanner.pos = at + 1;
      return out + text.slice(from, at);
    }
    if (code === CH_BACKSLASH) {
      out += text.slice(from, at);
      at += 1;
      from = at;
    }
  }
  return null;
}

/** True at a dash inside a name, which is a dash that does not begin an arrow. */
export function atDash(scanner: Scanner): boolean {
  return scanner.peek() === CH_DASH && scanner.text.charCodeAt(scanner.pos + 1) !== CH_GREATER;
}

/** Blanks around a name and around its dashes don't belong to it. */
export function trimPieces(name: string): string {
  if (!name.includes(' ')) return name;
  return name
    .split('-')
    .map((piece) => piece.trim())
    .join('-');
}

function skipIdentifier(scanner: Scanner): void {
  const { text } = scanner;
  let at = scanner.pos;
  while (at < text.length && isAsciiNameCode(text.charCodeAt(at))) at += 1;
  if (at < text.length && text.charCodeAt(at) >= 0x80) {
    ANY_SCRIPT.lastIndex = at;
    if (ANY_SCRIPT.test(text)) at = ANY_SCRIPT.lastIndex;
  }
  scanner.pos = at;
}

function isAsciiNameCode(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x30 && code <= 0x39) ||
    code === CH_UNDERSCORE ||
    code === CH_SPACE ||
    code === CH_DOLLAR
  );
}

function quotedName(scanner: Scanner): string {
  const start = scanner.pos;
  const name = quotedText(scanner);
  if (name) return name;
  scanner.pos = name === null ? scanner.text.length : start + 1;
  return scanner.fail(['a quoted name of at least one character']);
}

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
