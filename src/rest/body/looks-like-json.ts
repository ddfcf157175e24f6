/** Whether a body that is called something else is JSON: its first and last characters tell. */

/** What its sender has to do. */
export const JSON_HINT = 'The body looks like JSON: send it with the header Content-Type: application/json.';

const PAIRS: ReadonlyMap<number, number> = new Map([
  [0x7b, 0x7d], // { }
  [0x5b, 0x5d], // [ ]
]);

/** Bytes at either end that may be blank: looking must not take long, however large the body is. */
const MOST_BLANKS = 1_000;

/** For the hint of a refusal; a form encodes braces and brackets, so that it never looks so. */
export function looksLikeJson(body: Buffer): boolean {
  const lastByte = body.length - 1;
  let [first, last] = [0, lastByte];
  while (first < MOST_BLANKS && isBlank(body[first])) first += 1;
  while (lastByte - last < MOST_BLANKS && isBlank(body[last])) last -= 1;
  const closing = PAIRS.get(body[first] ?? 0);
  return first < last && closing !== undefined && body[last] === closing;
}

/** RFC 8259, 2. */
function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}
