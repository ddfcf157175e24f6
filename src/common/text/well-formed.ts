/** Text that PostgreSQL can keep and give back as it came. */

/** False for NUL, and for half a surrogate pair, which UTF-8 cannot write and would silently become U+FFFD. */
export function isStorableText(text: string): boolean {
  return !/\0|\p{Surrogate}/u.test(text);
}

/** The same for every text in a JSON value, member names included. Level by level: recursion has no limit here. */
export function isStorableJson(value: unknown): boolean {
  let level: unknown[] = [value];
  while (level.length > 0) {
    if (level.some((one) => typeof one === 'string' && !isStorableText(one))) return false;
    level = level.flatMap((one) =>
      typeof one === 'object' && one !== null ? Object.entries(one).flat() : [],
    );
  }
  return true;
}
