/** Rules of cross-origin access: read from XML or from the bucket's row, printed as XML, and matched with a request. */
import { malformedXml } from './s3.errors';
import { childrenOf, textIn, type XmlElement, type XmlMembers } from './xml';

export interface CorsRule {
  readonly id: string | null;
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  readonly headers: readonly string[];
  readonly exposed: readonly string[];
  /** Seconds; null for the browser's default. */
  readonly maxAge: number | null;
}

const MAX_RULES = 100;
const MAX_ITEMS = 100;
const MAX_REQUESTED = 50;
const METHODS = new Set(['GET', 'PUT', 'POST', 'DELETE', 'HEAD']);
/** An origin or header pattern has at most one `*`. */
const ORIGIN = /^[^*\s\p{Cc}]{0,255}\*?[^*\s\p{Cc}]{0,255}$/u;
const HEADER_PATTERN = /^[\w!#$%&'+.^`|~-]{0,128}\*?[\w!#$%&'+.^`|~-]{0,128}$/;
const HEADER = /^[\w!#$%&'*+.^`|~-]{1,128}$/;

/** @throws AppError 400 for rules that are not valid */
export function parseCors(document: XmlElement): CorsRule[] {
  const texts = (element: XmlElement, name: string): string[] =>
    childrenOf(element, name).map(({ text }) => text.trim());
  const rules = childrenOf(document, 'CORSRule').map((element) => {
    const maxAge = textIn(element, 'MaxAgeSeconds');
    return {
      id: textIn(element, 'ID'),
      origins: texts(element, 'AllowedOrigin'),
      methods: texts(element, 'AllowedMethod'),
      headers: texts(element, 'AllowedHeader'),
      exposed: texts(element, 'ExposeHeader'),
      maxAge: maxAge === null ? null : Number(maxAge),
    };
  });
  if (rules.length === 0 || rules.length > MAX_RULES || !rules.every(isRule)) throw malformedXml();
  return rules;
}

/** Reads the text in the row, which the project's owner can write: null unless all of it is valid. */
export function storedCors(text: string): CorsRule[] | null {
  try {
    const rules: unknown = JSON.parse(text);
    return Array.isArray(rules) && rules.length <= MAX_RULES && rules.every(isRule) ? rules : null;
  } catch {
    return null;
  }
}

export const printCors = (rules: readonly CorsRule[]): XmlMembers => ({
  CORSRule: rules.map((rule) => ({
    ID: rule.id,
    AllowedOrigin: rule.origins,
    AllowedMethod: rule.methods,
    AllowedHeader: rule.headers,
    ExposeHeader: rule.exposed,
    MaxAgeSeconds: rule.maxAge,
  })),
});

/**
 * The rule for a request; null if none applies. Also null for a preflight with more than MAX_REQUESTED
 * headers, because each is compared with each pattern.
 * @param rules with headers in lower case
 * @param requested names of the headers that a preflight asks for
 */
export function ruleFor(
  rules: readonly CorsRule[],
  origin: string,
  method: string,
  requested: readonly string[],
): CorsRule | null {
  if (requested.length > MAX_REQUESTED) return null;
  const names = requested.map((name) => name.toLowerCase());
  const found = rules.find(
    (rule) =>
      rule.methods.includes(method) &&
      rule.origins.some((pattern) => matches(pattern, origin)) &&
      names.every((name) => rule.headers.some((pattern) => matches(pattern, name))),
  );
  return found ?? null;
}

export const inLowerCase = (rule: CorsRule): CorsRule => ({
  ...rule,
  headers: rule.headers.map((name) => name.toLowerCase()),
});

function matches(pattern: string, text: string): boolean {
  const star = pattern.indexOf('*');
  if (star < 0) return pattern === text;
  if (text.length < pattern.length - 1) return false;
  return text.startsWith(pattern.slice(0, star)) && text.endsWith(pattern.slice(star + 1));
}

function isRule(value: unknown): value is CorsRule {
  if (typeof value !== 'object' || value === null) return false;
  const { id, origins, methods, headers, exposed, maxAge } = value as Partial<
    Record<keyof CorsRule, unknown>
  >;
  return (
    (id === null || (typeof id === 'string' && id.length <= 255)) &&
    isList(origins, 1, (text) => text !== '' && ORIGIN.test(text)) &&
    isList(methods, 1, (text) => METHODS.has(text)) &&
    isList(headers, 0, (text) => text !== '' && HEADER_PATTERN.test(text)) &&
    isList(exposed, 0, (text) => HEADER.test(text)) &&
    (maxAge === null || (Number.isInteger(maxAge) && Number(maxAge) >= 0 && Number(maxAge) <= 2_147_483_647))
  );
}

function isList(value: unknown, least: number, isSound: (text: string) => boolean): boolean {
  return (
    Array.isArray(value) &&
    value.length >= least &&
    value.length <= MAX_ITEMS &&
    value.every((item) => typeof item === 'string' && isSound(item))
  );
}
