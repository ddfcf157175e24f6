/** Names in the values of headers: as they are where they fit in, percent-encoded where not. */

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;
/** The same without `"` and `\`, which end or change a quoted string (RFC 9110, 5.6.4). */
const QUOTABLE = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

export function inAscii(name: string): string {
  return PRINTABLE_ASCII.test(name) ? name : encodeURIComponent(name);
}

/** For a name between double quotes. */
export function inQuotes(name: string): string {
  return QUOTABLE.test(name) ? name : encodeURIComponent(name);
}
