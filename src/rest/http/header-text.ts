/** Names in header values: unchanged if they are printable ASCII, else percent-encoded. */

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

/**
 * Characters of an address in a header. Node's fetch takes 16 KiB of head, nginx 4 or 8 KiB from the server behind it, and the
 * other headers need room as well.
 */
export const LONGEST_ADDRESS = 2_000;

/** The header with an address in ASCII; none where the address is too long. */
export function addressHeader(name: string, address: string): Record<string, string> {
  return address.length > LONGEST_ADDRESS ? {} : { [name]: address };
}
