/** Names in the values of headers. */

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;

/** A name as a header can carry it: percent-encoded where it has other characters than ASCII. */
export function inAscii(name: string): string {
  return PRINTABLE_ASCII.test(name) ? name : encodeURIComponent(name);
}
