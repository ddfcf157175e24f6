/** The headers that a project's SQL may set: none that concern others on the same host, or a proxy. */
import { setsStaffCookie } from '../../http/staff-cookie';
import { VARY } from '../response-vary';

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-zA-Z-]+$/;
/** Visible characters, blanks and Latin-1: nothing that could end the header. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/**
 * Only Plinth, or the proxy in front of it, sets these. They frame the message (RFC 9110, 7.6.1), make a proxy send other content or
 * keep a copy for others, name the way to authenticate, or change what browsers do with the whole origin, which all projects share.
 */
const RESERVED = new Set([
  'accept-ch',
  'alt-svc',
  'clear-site-data',
  'connection',
  'content-length',
  'edge-control',
  'keep-alive',
  'nel',
  'no-vary-search',
  'origin-agent-cluster',
  'public-key-pins',
  'report-to',
  'reporting-endpoints',
  'service-worker-allowed',
  'set-login',
  'strict-transport-security',
  'surrogate-control',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'www-authenticate',
]);
const RESERVED_PARTS =
  /^(access-control|proxy|x-accel|x-litespeed|x-reproxy)-|sendfile|send-file|cdn-cache-control$/;

/** Cookies of one response; further ones are left out. */
const MAX_COOKIES = 8;
/** Characters of one cookie, attributes included; longer ones are left out. Browsers keep no longer ones either. */
const MAX_COOKIE = 4_096;

/** RFC 9112, 4, without the bytes beyond ASCII, which each client reads in its own way. */
const REASON_PHRASE = /^[\t\x20-\x7e]+$/;

/** Whether HTTP/1.1 can carry the text beside a status. */
export function isReasonPhrase(text: unknown): text is string {
  return typeof text === 'string' && REASON_PHRASE.test(text);
}

/** Whether HTTP can carry the header at all. */
export function isHeader(name: string, value: unknown): value is string {
  return HEADER_NAME.test(name) && typeof value === 'string' && HEADER_VALUE.test(value);
}

/**
 * The headers of a project's SQL as they are sent. Without reserved ones; cookies belong to the project's own path; a response
 * depends on the sender's credentials, so no shared cache may store it.
 * @param slug of the project
 */
export function customHeaders(
  pairs: Iterable<readonly [name: string, value: string]>,
  slug: string,
): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  const cookies: string[] = [];
  const [caching, vary]: [string[], string[]] = [[], [VARY.Vary]];
  let isCached = false;
  for (const [name, value] of pairs) {
    const lower = name.toLowerCase();
    if (RESERVED.has(lower) || RESERVED_PARTS.test(lower)) continue;
    if (lower === 'set-cookie') cookies.push(...cookieOf(name, value, slug));
    else if (lower === 'vary') vary.push(value);
    else if (lower === 'cache-control') caching.push(value);
    else headers[name] = name in headers ? [...[headers[name] ?? []].flat(), value] : value;
    isCached ||= lower === 'cache-control' || lower === 'expires';
  }
  if (cookies.length > 0) headers['Set-Cookie'] = cookies.slice(0, MAX_COOKIES);
  if (vary.length > 1) headers.Vary = vary.join(', ');
  if (isCached) headers['Cache-Control'] = privateCaching(caching.join(','));
  return headers;
}

/** Empty for a cookie that is left out. */
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
