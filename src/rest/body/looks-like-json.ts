/** Whether a body looks like JSON although its Content-Type says otherwise: by its first and last character. */

/** The hint for a client that sent JSON under another Content-Type. */
export const JSON_HINT = 'The body looks like JSON: send it with the header Content-Type: application/json.';

const PAIRS: ReadonlyMap<number, number> = new Map([
  [0x7b, 0x7d], // { }
  [0x5b, 0x5d], // [ ]
]);

/** Blank bytes that are skipped at either end, which bounds the time of the check. */
const MAX_BLANKS = 1_000;

/** Never true of a form, which encodes braces and brackets. */
export function looksLikeJson(body: Buffer): boolean {
  const lastByte = body.length - 1;
  let [first, last] = [0, lastByte];
  while (first < MAX_BLANKS && isBlank(body[first])) first += 1;
  while (lastByte - last < MAX_BLANKS && isBlank(body[last])) last -= 1;
  const closing = PAIRS.get(body[first] ?? 0);
  return first < last && closing !== undefined && body[last] === closing;
}

/** RFC 8259, 2. */
function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}
