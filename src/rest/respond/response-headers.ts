/** Names in header values: unchanged if they are printable ASCII, else percent-encoded. */
import { parseJson } from '../../common/text/json';
import { restError } from '../rest.errors';
import type { Preferences } from '../grammar/rest-request';
import type { RequestPlan, WriteRequestPlan, RenamedEmbed } from '../plan/plan';
import { setsStaffCookie } from '../../http/staff-cookie';

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;
/** Printable ASCII without `"` and `\`, which end or change a quoted string (RFC 9110, 5.6.4). */
const QUOTABLE = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

export function inAscii(name: string): string {
  return PRINTABLE_ASCII.test(name) ? name : encodeURIComponent(name);
}

/** For names between double quotes. */
function inQuotes(name: string): string {
  return QUOTABLE.test(name) ? name : encodeURIComponent(name);
}

/**
 * Maximum characters of an address in a header. Node's fetch accepts response headers of 16 KiB in total,
 * nginx 4 or 8 KiB from an upstream server, and the other headers need room as well.
 */
export const MAX_ADDRESS_LENGTH = 2_000;

/** The header with an address in ASCII; empty if the address is too long. */
export function addressHeader(name: string, address: string): Record<string, string> {
  return address.length > MAX_ADDRESS_LENGTH ? {} : { [name]: address };
}

/** Headers of responses. */
export type ResponseHeaders = Record<string, string | string[]>;

/** The status in response.status; null if it is not set. @throws AppError PL112 for text that is not a final status */
export function overriddenStatus(status: string | null): number | null {
  if (status === null) return null;
  if (/^[2-5]\d\d$/.test(status.trim())) return Number(status);
  throw restError('PL112', { message: 'response.status guc must be a valid status code' });
}

/**
 * The headers in response.headers, a list of objects with one member each; null if it is not set.
 * @param slug of the project
 * @throws AppError PL111 for text that is not such a list
 */
export function overriddenHeaders(text: string | null, slug: () => string): ResponseHeaders | null {
  return text === null ? null : customHeaders(headerPairs(text), slug());
}

function headerPairs(text: string): [string, string][] {
  const list = parsedList(text);
  return list.map((item): [string, string] => {
    const isObject = typeof item === 'object' && item !== null;
    const entries: [string, unknown][] = isObject ? Object.entries(item) : [];
    const [name, value] = entries[0] ?? [];
    if (entries.length !== 1 || name === undefined || !isHeader(name, value)) throw malformedHeaders();
    return [name, value];
  });
}

function parsedList(text: string): unknown[] {
  const value = parseJson(text);
  if (!Array.isArray(value)) throw malformedHeaders();
  return value;
}

const malformedHeaders = () =>
  restError('PL111', {
    message:
      'response.headers guc must be a JSON array composed of objects with a single key and a string value',
  });

/** The preferences that made a difference, in PostgREST's order. */
export function appliedPreferences(plan: RequestPlan, preferences: Preferences): string[] {
  const isInsert = plan.kind === 'write' && plan.write.kind === 'insert' && plan.write.only === null;
  const isUpdate = plan.kind === 'write' && plan.write.kind === 'update';
  const isDelete = plan.kind === 'write' && plan.write.kind === 'delete';
  const isLimited = preferences.handling === 'strict' && (isUpdate || isDelete || plan.kind === 'call');
  const resolves = plan.kind === 'write' && plan.write.kind === 'insert' && plan.write.conflict !== null;
  const applied: string[] = [];
  const add = (name: string, value: string | number | null): void => {
    if (value !== null) applied.push(`${name}=${value}`);
  };
  add('resolution', isInsert && resolves ? preferences.resolution : null);
  add('missing', isInsert || isUpdate ? preferences.missing : null);
  add('return', plan.kind === 'write' ? returnApplied(plan, preferences) : null);
  add('count', preferences.count);
  add('tx', preferences.tx);
  add('handling', preferences.handling);
  add('read', plan.kind === 'read' ? preferences.read : null);
  add('timezone', preferences.timezone);
  add('max-affected', isLimited ? preferences.maxAffected : null);
  return applied;
}

function returnApplied({ rows }: WriteRequestPlan, preferences: Preferences): Preferences['return'] {
  return rows === 'withheld' ? 'minimal' : preferences.return;
}

/** PostgREST's deprecation warning for naming an embed by its relation although it has an alias. */
const WILL_GO =
  'Embedded resource was referenced by relation name even though it has an alias. This is deprecated and will stop working in a future release.';
/** Maximum characters of the list. A longer list is left out, because clients limit the headers to a few KiB. */
const LIST_LENGTH = 1_000;

/** The value of `Warning` (RFC 7234, 5.5). */
export function renamedWarning(renamed: readonly RenamedEmbed[]): string {
  const names = renamed.map(({ relation, alias }) => `\`${inQuotes(relation)}\` to \`${inQuotes(alias)}\``);
  const list = names.join(', ');
  const advice =
    list.length > LIST_LENGTH ? '' : ` Update ${list} in query string filters, orders or limits.`;
  return `299 Plinth "${WILL_GO}${advice}"`;
}

/** The headers that a project's SQL may set: only headers without effect on a proxy or on other projects of the host. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-zA-Z-]+$/;
/** Visible characters, blanks and Latin-1: nothing that could end the header. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/**
 * Headers that only Plinth, or the proxy in front of it, may set. They frame the message (RFC 9110, 7.6.1),
 * make a proxy send other content or keep a copy for others, name the way to authenticate, or change what
 * browsers do with the whole origin, which all projects share.
 */
const RESERVED = new Set(
  (
    'accept-ch alt-svc clear-site-data connection content-length edge-control expect-ct keep-alive nel ' +
    'no-vary-search origin-agent-cluster public-key-pins public-key-pins-report-only report-to reporting-endpoints ' +
    'service-worker-allowed set-login shared-storage-write strict-transport-security surrogate-control te trailer ' +
    'transfer-encoding upgrade use-as-dictionary www-authenticate x-content-type-options'
  ).split(' '),
);
const RESERVED_PARTS =
  /^(access-control|attribution-reporting|proxy|sec|secure|x-accel|x-appengine|x-envoy|x-lighttpd|x-litespeed|x-reproxy)-|sendfile|send-file|-cache-control$/;

/**
 * For responses whose type SQL selects: scripts of such a page run in a separate origin, not in the origin of
 * the console and of other projects.
 */
export const SANDBOX = 'sandbox allow-scripts allow-forms allow-popups allow-downloads';

/** Maximum number of cookies in one response; further cookies are left out. */
const MAX_COOKIES = 8;
/**
 * Maximum number of characters in one cookie, attributes included; longer cookies are left out. Browsers do
 * not keep them either.
 */
const MAX_COOKIE = 4_096;

/** RFC 9112, 4, without the bytes beyond ASCII, which clients decode in different ways. */
const REASON_PHRASE = /^[\t\x20-\x7e]+$/;

/** Whether HTTP/1.1 can send the text after a status. */
export function isReasonPhrase(text: unknown): text is string {
  return typeof text === 'string' && REASON_PHRASE.test(text);
}

/** Whether HTTP can transport the header at all. */
export function isHeader(name: string, value: unknown): value is string {
  return HEADER_NAME.test(name) && typeof value === 'string' && HEADER_VALUE.test(value);
}

/**
 * The headers of a project's SQL as they are sent. Reserved headers are left out, and cookies belong to the
 * project's own path; a response depends on the sender's credentials, so no shared cache may store it.
 * @param slug of the project
 */
export function customHeaders(
  pairs: Iterable<readonly [name: string, value: string]>,
  slug: string,
): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  const cookies: string[] = [];
  const [caching, vary, policies]: [string[], string[], string[]] = [[], [VARY.Vary], []];
  let [isCached, isTyped] = [false, false];
  for (const [name, value] of pairs) {
    const lower = name.toLowerCase();
    if (RESERVED.has(lower) || RESERVED_PARTS.test(lower)) continue;
    if (lower === 'set-cookie') cookies.push(...cookieOf(name, value, slug));
    else if (lower === 'vary') vary.push(value);
    else if (lower === 'cache-control') caching.push(value);
    else if (lower === 'content-security-policy') policies.push(value);
    else headers[name] = Object.hasOwn(headers, name) ? [...[headers[name] ?? []].flat(), value] : value;
    isTyped ||= lower === 'content-type';
    isCached ||= lower === 'cache-control' || lower === 'expires';
  }
  if (cookies.length > 0) headers['Set-Cookie'] = cookies.slice(0, MAX_COOKIES);
  if (vary.length > 1) headers.Vary = vary.join(', ');
  if (isTyped || policies.length > 0) headers['Content-Security-Policy'] = [...policies, SANDBOX];
  if (isCached) headers['Cache-Control'] = privateCaching(caching.join(','));
  return headers;
}

/** The cookie as it is sent; empty if it is left out. */
function cookieOf(name: string, value: string, slug: string): string[] {
  if (setsStaffCookie(name, value)) return [];
  const kept = value
    .split(';')
    .filter((part, index) => index === 0 || !/^\s*(path|domain)\s*(=|$)/i.test(part));
  const cookie = `${kept.join(';')}; Path=/p/${slug}`;
  return cookie.length > MAX_COOKIE ? [] : [cookie];
}

/** RFC 9111, 5.2.2. */
function privateCaching(value: string): string {
  const directives = value
    .split(',')
    .map((directive) => directive.trim())
    .filter(
      (directive) => /^[\w-]+(=\d+)?$/.test(directive) && !/^(public|private|s-maxage)\b/i.test(directive),
    );
  return ['private', ...directives].join(', ');
}

/** The request headers that a response depends on (RFC 9110, 12.5.5): PostgREST's, and the credentials. */
export const VARY = { Vary: 'Accept, Prefer, Range, apikey, Authorization' };
