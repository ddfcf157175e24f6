/**
 * Checks that PostgreSQL can store a value: text without NUL and lone surrogates, JSON of limited depth whose numbers fit
 * into a double.
 */

/** Levels of arrays and objects. Validators and JSON.stringify() recurse, and would overflow the stack. */
const MAX_DEPTH = 64;

/** PostgreSQL's text cannot contain NUL, nor UTF-8 a lone surrogate, which would be stored as U+FFFD. */
export function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** A value, with the name of the member that holds it, directly or in arrays. */
type Named = readonly [name: string, value: unknown];

/**
 * The reason why a JSON value cannot be stored, or null. Iterates level by level, because recursion could overflow the stack.
 * @param name the name of the value, for the message
 */
export function storageFault(name: string, value: unknown): string | null {
  let level: Named[] = [[name, value]];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return `${name} is nested more than ${MAX_DEPTH} levels deep`;
    const fault = level.find((member) =>
      member.some((part) => typeof part === 'string' && !isStorableText(part)),
    );
    if (fault) return `${fault[0].toWellFormed()} holds a NUL or half a surrogate pair`;
    // JSON.parse() reads 1e400 as Infinity, which JSON.stringify() prints as null.
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
