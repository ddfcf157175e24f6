/** Listings of flat names, as both providers return them. */

/** Names below the prefix, in order; with a delimiter, folders replace the names in them. */
export function entriesOf(names: readonly string[], prefix: string, delimiter: string | null): string[] {
  const below = names.filter((name) => name.startsWith(prefix));
  if (delimiter === null) return below.sort();
  const entries = below.map((name) => {
    const end = name.indexOf(delimiter, prefix.length);
    return end < 0 ? name : name.slice(0, end + delimiter.length);
  });
  return [...new Set(entries)].sort();
}
