import { growingCache } from './growing-cache';

describe('growingCache', () => {
  it('drops what was used longest ago when it is full', () => {
    const cache = growingCache<object>(2);
    cache.set('a', {}).set('b', {});
    cache.get('a');
    cache.set('c', {});
    expect([cache.has('a'), cache.has('b'), cache.has('c')]).toEqual([true, false, true]);
  });

  it('takes no memory for what it does not hold yet', () => {
    const before = process.memoryUsage();
    const caches = Array.from({ length: 20 }, () => growingCache<object>(1_000_000));
    const after = process.memoryUsage();
    // By their number of entries they would take 56 MB each.
    expect(after.heapTotal + after.arrayBuffers - before.heapTotal - before.arrayBuffers).toBeLessThan(100e6);
    expect(caches).toHaveLength(20);
  });
});
