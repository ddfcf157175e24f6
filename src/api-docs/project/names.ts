/**
 * Encodes names of tables, columns and functions where OpenAPI and URLs allow fewer characters than PostgreSQL.
 * Component names consist of letters, digits, `.`, `-` and `_`. Different names are never encoded alike.
 */
import type { QualifiedName } from '../../rest/catalog/catalog';
import { EMBEDDABLE_PARAMETERS, TOP_LEVEL_PARAMETERS } from '../../rest/grammar/operators';

/**
 * `order lines` to `order-20-lines`: any other character than a letter, digit or `_` becomes its code point in
 * hex.
 */
export function encodeName(name: string): string {
  return name.replace(/[^A-Za-z0-9_]/gu, (char) => `-${(char.codePointAt(0) ?? 0).toString(16)}-`);
}

/** The prefix of an object's component names and operation ids; the default schema is left out. */
export function componentStem({ schema, name }: QualifiedName, defaultSchema: string): string {
  return schema === defaultSchema ? encodeName(name) : `${encodeName(schema)}.${encodeName(name)}`;
}

/** `notes`, `api.notes`: the name of a relation or function in a URL, before percent-encoding. */
export function addressOf({ schema, name }: QualifiedName, defaultSchema: string): string {
  return schema === defaultSchema ? name : `${schema}.${name}`;
}

/**
 * One segment of a path (RFC 3986, 3.3). Null for names that no client can send: dot segments are resolved
 * away, even if they are percent-encoded.
 */
export function pathSegment(address: string): string | null {
  if (address === '.' || address === '..') return null;
  return encodeURIComponent(address).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Names that the query grammar accepts without quotes and cannot mistake for anything else. */
const PLAIN_NAME = /^[\p{L}\p{M}\p{N}_$]+(?:[ -][\p{L}\p{M}\p{N}_$]+)*$/u;

/** A column or argument as the name of a query parameter: `id`, `"a.b"`, `"order"`. */
export function queryName(name: string): string {
  const isReserved = TOP_LEVEL_PARAMETERS.has(name) || EMBEDDABLE_PARAMETERS.has(name);
  if (PLAIN_NAME.test(name) && !isReserved) return name;
  return `"${name.replace(/["\\]/g, '\\$&')}"`;
}
