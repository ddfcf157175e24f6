/** A bounded cache whose memory grows with its entries. */
import { LRUCache } from 'lru-cache';

/**
 * Drops the least recently used entries when all together exceed `limit`. For limits that are seldom reached: with `max`,
 * lru-cache allocates 56 bytes for each possible entry at once; with `maxSize` it allocates as entries come.
 * @param sizeOf size of the entry with this key; default: 1
 */
export function growingCache<V extends object>(
  limit: number,
  sizeOf: (key: string) => number = () => 1,
): LRUCache<string, V> {
  return new LRUCache<string, V>({ maxSize: limit, sizeCalculation: (_value, key) => sizeOf(key) });
}
