/**
 * Percent-encoding in paths (RFC 3986, 2.1). Express refuses a path that it cannot decode before any guard runs. With its
 * invalid escapes replaced the path finds its route, and a caller without credentials gets 401 as everywhere else.
 */

/** U+FFFD, which decoders put in place of invalid UTF-8. */
const REPLACEMENT = '%EF%BF%BD';
/** A run of escapes, or a percent sign without two hexadecimal digits after it. */
const ESCAPES = /(?:%[0-9a-f]{2})+|%/gi;

/** `/a/%ff/b%20c?d=%ff` to `/a/%EF%BF%BD/b%20c?d=%ff`: Express does not decode the query string. */
export function replaceInvalidEscapes(url: string): string {
  if (!url.includes('%')) return url;
  const [path, query] = split(url);
  return path.replace(ESCAPES, (escapes) => (decodes(escapes) ? escapes : REPLACEMENT)) + query;
}

/** True when the path decodes to UTF-8. @param url as received, with or without a query string */
export function isDecodable(url: string): boolean {
  return !url.includes('%') || decodes(split(url)[0]);
}

/** True when the escapes of the query string are UTF-8. There, a percent sign that does not begin an escape is literal. */
export function isQueryDecodable(url: string): boolean {
  return !url.includes('%') || (split(url)[1].match(/(?:%[0-9a-f]{2})+/gi) ?? []).every(decodes);
}

/** The decoded text, or the same text if it cannot be decoded, which then names nothing that exists. */
export function decodedOrSame(text: string): string {
  return decodes(text) ? decodeURIComponent(text) : text;
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
