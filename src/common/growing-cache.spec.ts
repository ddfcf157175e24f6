import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { LRUCache } from 'lru-cache';
import { growingCache } from './growing-cache';

describe('growingCache', () => {
  it('drops the least recently used entry when it is full', () => {
    const cache = growingCache<object>(2);
    cache.set('a', {}).set('b', {});
    cache.get('a');
    cache.set('c', {});
    expect([cache.has('a'), cache.has('b'), cache.has('c')]).toEqual([true, false, true]);
  });

  it('takes no memory for future entries', () => {
    const LIMIT = 1_000_000;
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    // The heap also has what the test runner frees at any time; the arrays of a cache are outside of it.
    const memory = (): number => {
      collect();
      return process.memoryUsage().arrayBuffers;
    };
    const before = memory();
    const caches: object[] = Array.from({ length: 20 }, () => growingCache<object>(LIMIT));
    const between = memory();
    // Such a cache allocates the memory of all its entries at its creation.
    caches.push(new LRUCache<string, object>({ max: LIMIT }));
    expect(between - before).toBeLessThan(memory() - between);
    expect(caches).toHaveLength(21);
  });
});
