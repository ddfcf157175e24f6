/**
 * Converts a query string to decoded pairs, and back. `+` is a space, and only `&` separates pairs. PostgREST
 * also splits at `;` and so silently truncates `/items?name=eq.a;b`.
 */
import { assertLength, type Budget, LIMITS } from './budget';
import { GrammarError } from './grammar-error';
import type { QueryParameter } from './query-values';
import type { Target, TargetName } from './rest-request';

/**
 * Splits and decodes. Empty pairs and names without `=` are left out. A percent sign that does not begin an
 * escape is an ordinary character, as in PostgREST: `/articles?body=like.%plan%`
 * @throws GrammarError PL150 for broken encoding, PL151 for too long a text, PL153 for too many pairs.
 */
export function splitQueryString(queryString: string, budget: Budget): readonly QueryParameter[] {
  assertLength('query string', queryString, LIMITS.queryLength);
  const spaced = queryString.includes('+') ? queryString.replaceAll('+', ' ') : queryString;
  const text = spaced.includes('%') ? spaced.replace(LONE_PERCENT, '%25') : spaced;
  const parameters: QueryParameter[] = [];
  let start = text.startsWith('?') ? 1 : 0;
  while (start < text.length) {
    const found = text.indexOf('&', start);
    const end = found === -1 ? text.length : found;
    const pair = text.slice(start, end);
    const equals = pair.indexOf('=');
    if (equals !== -1) {
      budget.takeParameter();
      const name = decode(pair.slice(0, equals), 'query string');
      parameters.push({ name, value: decode(pair.slice(equals + 1), 'query string') });
    }
    start = end + 1;
  }
  return parameters;
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

/**
 * Parses one raw path segment. A name may contain dots, so the schema may end at any of them.
 * Example: `/Server%20Today`, `/api.orders`
 * @throws GrammarError PL125 for an empty name, PL150 for broken encoding, PL151 for a name that is too long.
 */
export function parseTarget(segment: string): Target {
  assertLength('path', segment, LIMITS.targetLength);
  const text = decode(segment, 'path');
  if (text === '') {
    throw new GrammarError({ code: 'PL125', message: 'Invalid path specified in request URL' });
  }
  const candidates: TargetName[] = [{ schema: null, name: text }];
  for (let dot = text.indexOf('.', 1); dot !== -1; dot = text.indexOf('.', dot + 1)) {
    if (dot === text.length - 1 || candidates.length > LIMITS.pathSegments) break;
    candidates.push({ schema: text.slice(0, dot), name: text.slice(dot + 1) });
  }
  return { text, candidates };
}
