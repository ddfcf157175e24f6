/**
 * The addresses to which a link in a mail may lead: those of the project's application, and those in the project's list of
 * allowed addresses. A link to any other address would hand sessions to the person who asked for the mail.
 */
import { Project } from '../../projects/project';

type RedirectSettings = Pick<Project['settings'], 'site_url' | 'redirect_urls'>;

/** Characters. */
const MAX_URL = 2_000;
/** Schemes that a browser runs or opens itself. */
const UNSAFE_SCHEMES: ReadonlySet<string> = new Set([
  'about:',
  'blob:',
  'data:',
  'file:',
  'filesystem:',
  'javascript:',
  'vbscript:',
  'view-source:',
]);

/**
 * @param wanted the address that the client wants
 * @returns the wanted address if it is allowed, else that of the application, if it has one
 */
export function redirectFor(settings: RedirectSettings, wanted: string | undefined): string | null {
  const url = wanted === undefined ? null : parseRedirect(wanted);
  return url && isAllowed(settings, url) ? url.href : settings.site_url;
}

/** An address as a browser understands it, without a fragment; null if it is unsafe or could be read in two ways. */
export function parseRedirect(text: string): URL | null {
  if (text.length > MAX_URL || /[\s\\\p{C}]/u.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  if (UNSAFE_SCHEMES.has(url.protocol) || url.username !== '' || url.password !== '') return null;
  url.hash = '';
  return url;
}

function isAllowed({ site_url: site, redirect_urls: patterns }: RedirectSettings, url: URL): boolean {
  if (site !== null && URL.canParse(site) && originOf(new URL(site)) === originOf(url)) return true;
  return patterns.some((pattern) => matches(pattern, url));
}

/** Scheme and authority. `origin` is "null" for the schemes of applications. */
const originOf = ({ protocol, host, href }: URL): string =>
  href.startsWith(`${protocol}//`) ? `${protocol}//${host}` : protocol;

/**
 * `https://*.example.com/**` allows `https://app.example.com/a/b`. Authority and path are compared separately, so that no
 * wildcard of the authority reaches into the path: `https://2130706433/.example.com/` is another host.
 */
function matches(pattern: string, url: URL): boolean {
  const [, head = '', tail = ''] = /^([^:]+:(?:\/\/[^/?#]*)?)([^#]*)/.exec(pattern) ?? [];
  const origin = originOf(url);
  const rest = url.href.slice(origin.length);
  const plain = (text: string): string => (text === '' ? '/' : text);
  return matchesGlob(head, origin, AUTHORITY_ENDS) && matchesGlob(plain(tail), plain(rest), '');
}

/** Characters that no wildcard of an authority stands for. */
const AUTHORITY_ENDS = '/?#@\\';
/** Characters that `*` and `?` never stand for. */
const PART_ENDS = './?#@:\\';

/**
 * Whether a pattern matches a whole text, ignoring the case of letters. Tracks all possible positions together, as bits of a
 * number: a regular expression with a few wildcards would backtrack, which takes seconds for a long address.
 * @param ends characters that `**` does not stand for
 */
function matchesGlob(pattern: string, text: string, ends: string): boolean {
  // More than two asterisks mean the same as two. Read as one token, they leave no wildcard of any length after another.
  const tokens = pattern.toLowerCase().match(/\*+|\?|[^*?]/g) ?? [];
  const bits = (isWanted: (token: string) => boolean): bigint =>
    tokens.reduce((sum, token, index) => (isWanted(token) ? sum | (1n << BigInt(index)) : sum), 0n);
  const [single, part, any] = [bits((token) => token === '?'), bits((token) => token === '*'), bits(isAny)];
  const literals = new Map<string, bigint>();
  const literal = (character: string): bigint => {
    const known = literals.get(character) ?? bits((token) => token === character);
    literals.set(character, known);
    return known;
  };
  const skipEmpty = (state: bigint): bigint => state | ((state & (part | any)) << 1n);
  let state = skipEmpty(1n);
  for (const character of text.toLowerCase()) {
    const inPart = !PART_ENDS.includes(character);
    const stays = (inPart ? part : 0n) | (ends.includes(character) ? 0n : any);
    const moves = literal(character) | (inPart ? single : 0n);
    state = skipEmpty(((state & moves) << 1n) | (state & stays));
    if (state === 0n) return false;
  }
  return (state & (1n << BigInt(tokens.length))) !== 0n;
}

const isAny = (token: string): boolean => token.startsWith('**');
