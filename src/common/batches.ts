/** Splits what is too much for one go. */

/** The items in order, at most `size` at once; nothing for no items. */
export function* batchesOf<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
