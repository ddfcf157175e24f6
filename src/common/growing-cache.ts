/** A bounded cache that is as large as what it holds. */
import { LRUCache } from 'lru-cache';

/**
 * Drops what was used longest ago when the entries are larger than `limit` together. For limits that are seldom reached: given
 * a number of entries, lru-cache takes the memory of all of them at once (56 bytes each); bounded by a size, it grows.
 * @param sizeOf an entry, by its key; by default entries are counted
 */
export function growingCache<V extends object>(
  limit: number,
  sizeOf: (key: string) => number = () => 1,
): LRUCache<string, V> {
  return new LRUCache<string, V>({ maxSize: limit, sizeCalculation: (_value, key) => sizeOf(key) });
}
