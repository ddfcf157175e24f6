/** Lists and parameters in header values, with quoted strings (RFC 9110, 5.6). */
import { assertLength, tooMany, LIMITS } from './budget';
import type { RequestHeaders } from './rest-request';

const NO_PARAMETERS: ReadonlyMap<string, string> = new Map();

/** A header item such as `text/csv; q=0.5` or `return=minimal`. */
export interface HeaderItem {
  /** The text before the first `;`, trimmed. */
  readonly head: string;
  /** Parameters: names in lower case, values without their quotes. */
  readonly parameters: ReadonlyMap<string, string>;
  /** The whole item, trimmed. */
  readonly text: string;
}

/**
 * A header's value, several lines joined; null when absent.
 * @throws GrammarError PL151 when it is too long.
 */
export function headerValue(headers: RequestHeaders, name: string): string | null {
  const value = headers[name];
  if (value === undefined) return null;
  const text = typeof value === 'string' ? value : value.join(', ');
  assertLength(`${name} header`, text, LIMITS.headerLength);
  return text;
}

/**
 * The items of a comma-separated list, without empty items.
 * @throws GrammarError PL153 when there are too many.
 */
export function headerItems(text: string): readonly HeaderItem[] {
  const items = splitUnquoted(text, ',').filter((item) => item !== '');
  if (items.length > LIMITS.headerItems) throw tooMany('items in a header', LIMITS.headerItems);
  return items.map(headerItem);
}

/** One item with its parameters. If a name occurs twice, the first parameter counts. */
export function headerItem(text: string): HeaderItem {
  if (!text.includes(';')) return { head: text.trim(), parameters: NO_PARAMETERS, text: text.trim() };
  const [head = '', ...rest] = splitUnquoted(text, ';');
  const parameters = new Map<string, string>();
  for (const parameter of rest) {
    const [name, value] = nameAndValue(parameter);
    if (name !== '' && !parameters.has(name)) parameters.set(name, value);
  }
  return { head, parameters, text: text.trim() };
}

/** `Name = "value"` as `['name', 'value']`; without `=` the value is empty. */
export function nameAndValue(text: string): readonly [name: string, value: string] {
  const equals = text.indexOf('=');
  if (equals === -1) return [text.trim().toLowerCase(), ''];
  return [text.slice(0, equals).trim().toLowerCase(), unquoted(text.slice(equals + 1).trim())];
}

function splitUnquoted(text: string, separator: string): string[] {
  if (!text.includes(separator)) return [text.trim()];
  const parts: string[] = [];
  let start = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') quoted = !quoted;
    else if (quoted && character === '\\') at += 1;
    else if (!quoted && character === separator) {
      parts.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  parts.push(text.slice(start).trim());
  return parts;
}

function unquoted(text: string): string {
  if (text.length < 2 || !text.startsWith('"') || !text.endsWith('"')) return text;
  return text.slice(1, -1).replace(/\\(.)/gs, '$1');
}
