/**
 * What PostgreSQL can store, and Plinth handle: text without NUL and half surrogate pairs, JSON that does not nest endlessly
 * or hold numbers beyond a double.
 */

/** Levels of lists and objects: what validates and prints JSON recurses, and would run out of stack. */
const MAX_DEPTH = 64;

/** PostgreSQL's text holds no NUL, and UTF-8 no half of a surrogate pair: it would be stored as another character. */
export function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** A value and the name of the member that holds it, itself or in lists. */
type Named = readonly [name: string, value: unknown];

/**
 * What is wrong with a value of JSON; null: nothing. Level by level rather than recursive, for the same reason.
 * @param name of the whole
 */
export function storageFault(name: string, value: unknown): string | null {
  let level: Named[] = [[name, value]];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return `${name} is nested more than ${MAX_DEPTH} levels deep`;
    const fault = level.find((member) =>
      member.some((part) => typeof part === 'string' && !isStorableText(part)),
    );
    if (fault) return `${fault[0].toWellFormed()} holds a NUL or half a surrogate pair`;
    // JSON.parse() makes Infinity of 1e400, and null would be printed.
    const endless = level.find(([, part]) => part === Infinity || part === -Infinity);
    if (endless) return `${endless[0]} is a number that is too large`;
    level = level.flatMap(membersOf);
  }
  return null;
}

function membersOf([name, value]: Named): Named[] {
  if (Array.isArray(value)) return value.map((item) => [name, item]);
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}
