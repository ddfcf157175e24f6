/** A bounded cache that is as large as what it holds. */
import { LRUCache } from 'lru-cache';

/**
 * Drops what was used longest ago when there are more entries than `limit`. For limits that are seldom reached: given a number
 * of entries, lru-cache takes the memory of all of them at once (56 bytes each); bounded by a size, it grows.
 */
export function growingCache<V extends object>(limit: number): LRUCache<string, V> {
  return new LRUCache<string, V>({ maxSize: limit, sizeCalculation: () => 1 });
}
