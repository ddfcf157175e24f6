/** Splits a list into parts of limited size. */

/** The items in order, at most `size` in each batch. An empty list gives no batch. */
export function* batchesOf<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
