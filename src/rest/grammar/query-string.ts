/**
 * The query string as decoded pairs, and back. `+` is a space, and only `&` separates pairs. PostgREST also
 * splits at `;` and so silently truncates `/items?name=eq.a;b`.
 */
import { assertLength, type Budget } from './budget';
import { GrammarError } from './grammar-error';
import { LIMITS } from './limits';
import type { QueryParameter } from './query-values';

/**
 * Splits and decodes. Empty pairs and names without `=` are left out. A percent sign that begins no escape is
 * an ordinary character, as in PostgREST: `/articles?body=like.%plan%`
 * @throws GrammarError PL150 for broken encoding, PL151 for too long a text, PL153 for too many pairs.
 */
export function splitQueryString(queryString: string, budget: Budget): readonly QueryParameter[] {
  assertLength('query string', queryString, LIMITS.queryLength);
  const parameters: QueryParameter[] = [];
  let start = queryString.startsWith('?') ? 1 : 0;
  while (start < queryString.length) {
    const found = queryString.indexOf('&', start);
    const end = found === -1 ? queryString.length : found;
    const pair = queryString.slice(start, end);
    const equals = pair.indexOf('=');
    if (equals !== -1) {
      budget.takeParameter();
      parameters.push({ name: decodeForm(pair.slice(0, equals)), value: decodeForm(pair.slice(equals + 1)) });
    }
    start = end + 1;
  }
  return parameters;
}

function decodeForm(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  return decode(spaced.includes('%') ? spaced.replace(LONE_PERCENT, '%25') : spaced, 'query string');
}

const LONE_PERCENT = /%(?![0-9a-f]{2})/gi;

/**
 * Decodes percent-encoding. NUL is refused, because PostgreSQL has no such character.
 * @throws GrammarError PL150
 */
export function decode(text: string, where: string): string {
  const decoded = text.includes('%') ? decodeOrNull(text) : text;
  if (decoded !== null && !decoded.includes('\0')) return decoded;
  throw new GrammarError({
    code: 'PL150',
    message: `The ${where} is not properly encoded`,
    details:
      decoded === null
        ? `The percent-encoding of "${text.slice(0, LIMITS.echo)}" is broken or is not UTF-8.`
        : 'It holds a NUL character (%00).',
    hint: 'A percent sign before two hexadecimal digits is written %25.',
  });
}

function decodeOrNull(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}

/**
 * The query with its parameters in alphabetical order, encoded again, for Content-Location; empty if there are none.
 * Example: `/no_pk?b=eq.1&a=eq.1` gives `a=eq.1&b=eq.1`
 */
export function canonicalQuery(parameters: readonly QueryParameter[]): string {
  const byName = [...parameters].sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
  return byName.map(({ name, value }) => `${encode(name)}=${encode(value)}`).join('&');
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
