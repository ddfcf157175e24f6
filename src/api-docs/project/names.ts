/**
 * Names of a project's objects where OpenAPI and its generators allow fewer characters than PostgreSQL: in components
 * and operation ids; and in URLs.
 */
import type { QualifiedName } from '../../rest/catalog/catalog';
import { EMBEDDABLE_PARAMETERS, TOP_LEVEL_PARAMETERS } from '../../rest/grammar/operators';

/**
 * Names of types that generated code uses itself: of TypeScript, of browsers and of Node. A table `date` becomes
 * `PublicDate`.
 */
export const GENERATOR_NAMES: readonly string[] = `
  Array Boolean Date Error Function Json Map Number Object Promise Record RegExp Set String Symbol BigInt
  Partial Pick Omit Readonly Required Blob Buffer File FormData Headers Request Response Url UrlSearchParams
  AbortSignal Body Client Config Event Options Params Schema Schemas`
  .trim()
  .split(/\s+/);

/**
 * Turns `order_items` and `order items` into `OrderItems`. Letters lose their accents; other non-ASCII letters become `U` and
 * their code point in hex. A name without letters and digits becomes its code points.
 */
export function pascalCase(name: string): string {
  const words = toAscii(name).split(/[^A-Za-z0-9]+/);
  const joined = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  const text = joined === '' ? [...name].map(codePoint).join('') : joined;
  return /^\d/.test(text) ? `N${text}` : text;
}

function toAscii(name: string): string {
  return name.replace(/[\p{L}\p{N}\p{So}\p{M}]/gu, (char) => {
    if (/[A-Za-z0-9]/.test(char)) return char;
    const plain = char.normalize('NFKD').replace(/\p{M}/gu, '');
    return /^[A-Za-z0-9]*$/.test(plain) ? plain : codePoint(char);
  });
}

const codePoint = (char: string): string => `U${(char.codePointAt(0) ?? 0).toString(16)}`;

/** Names in use. They are compared without case, because generators write files that are named after them. */
export class NameAllocator {
  private readonly taken: Set<string>;

  constructor(reserved: Iterable<string> = []) {
    this.taken = new Set([...reserved].map((name) => name.toLowerCase()));
  }

  areFree(names: readonly string[]): boolean {
    return !names.some((name) => this.taken.has(name.toLowerCase()));
  }

  take(names: readonly string[]): void {
    for (const name of names) this.taken.add(name.toLowerCase());
  }

  /** The candidate, or if it is taken, the candidate with the first free number from 2. */
  takeNumbered(candidate: string): string {
    return firstNumbered(candidate, (name) => {
      if (!this.areFree([name])) return false;
      this.take([name]);
      return true;
    });
  }
}

/** `AB`, `AB2`, `AB3`, ...: the first that is accepted. */
export function firstNumbered(name: string, accepts: (numbered: string) => boolean): string {
  for (let number = 1; ; number += 1) {
    const numbered = number === 1 ? name : `${name}${number}`;
    if (accepts(numbered)) return numbered;
  }
}

/** The preferred name of an object: outside the default schema, it begins with the name of the schema. */
export function preferredStem(object: QualifiedName, defaultSchema: string): string {
  return object.schema === defaultSchema ? pascalCase(object.name) : qualifiedStem(object);
}

export function qualifiedStem({ schema, name }: QualifiedName): string {
  return `${pascalCase(schema)}${pascalCase(name)}`;
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
  return isReserved ? quoted(name) : nameInList(name);
}

/** Members of every object: generated types with an optional member of that name do not compile. */
const OBJECT_MEMBERS: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));

/**
 * Whether a column or argument has a query parameter in the document. Some generators write names into their code without
 * escaping quotes, so that one column named `order` would break a whole client.
 */
export function hasParameter(name: string): boolean {
  return queryName(name) === name && !OBJECT_MEMBERS.has(name);
}

/** A name in a list of `select`, `order`, `columns` or `on_conflict`. */
export function nameInList(name: string): string {
  return PLAIN_NAME.test(name) ? name : quoted(name);
}

const quoted = (name: string): string => `"${name.replace(/["\\]/g, '\\$&')}"`;
