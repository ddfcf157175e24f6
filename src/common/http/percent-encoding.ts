/**
 * Percent-encoding in paths (RFC 3986, 2.1). A router refuses what it cannot decode before any guard runs; mended, such an
 * address finds its route, and who is not signed in gets 401 like everywhere else.
 */

/** U+FFFD, what decoders put in the place of what is no UTF-8. */
const REPLACEMENT = '%EF%BF%BD';
/** A run of escapes, or a percent sign that begins none. */
const ESCAPES = /(?:%[0-9a-f]{2})+|%/gi;

/** `/a/%ff/b%20c?d=%ff` to `/a/%EF%BF%BD/b%20c?d=%ff`: the query string is not the router's. */
export function mendPath(url: string): string {
  if (!url.includes('%')) return url;
  const [path, query] = split(url);
  return path.replace(ESCAPES, (escapes) => (decodes(escapes) ? escapes : REPLACEMENT)) + query;
}

/** True when the path says what it means. @param url as the request came, with or without a query string */
export function isDecodable(url: string): boolean {
  return !url.includes('%') || decodes(split(url)[0]);
}

/** True when what the query string escapes is UTF-8. A percent sign that begins no escape stands for itself there. */
export function isQueryDecodable(url: string): boolean {
  return !url.includes('%') || (split(url)[1].match(/(?:%[0-9a-f]{2})+/gi) ?? []).every(decodes);
}

function split(url: string): [path: string, query: string] {
  const mark = url.indexOf('?');
  return mark < 0 ? [url, ''] : [url.slice(0, mark), url.slice(mark)];
}

function decodes(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
