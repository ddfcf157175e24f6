/** Values of filters, as texts: PostgreSQL converts them to the column's type. */
import { quotedText } from './names';
import type { Scanner } from './scanner';

const CH_QUOTE = 0x22;
const CH_OPEN_BRACE = 0x7b;
const CH_CLOSE = 0x29;
const CH_COMMA = 0x2c;

/** A parameter's value is the rest of its text, with any characters: `/jsonb_test?data=eq.{"e":1}` */
export function restOfText(scanner: Scanner): string {
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
export function listValues(scanner: Scanner): readonly string[] {
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

/** Quotes count only if they enclose the whole value: `in.("a"b)` has the one value `"a"b`. */
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
