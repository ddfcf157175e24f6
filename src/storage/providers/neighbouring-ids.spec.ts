import { NeighbouringIds } from './neighbouring-ids';
import { isObjectId } from './object-address';

describe('NeighbouringIds', () => {
  const ids = new NeighbouringIds();
  const made = Array.from({ length: 256 * 256 }, () => ids.next());
  const shardsOf = (some: readonly string[]): Set<string> => new Set(some.map((id) => id.slice(0, 2)));

  it('are UUIDs, each another', () => {
    expect(made.every(isObjectId)).toBe(true);
    expect(new Set(made.map((id) => id.slice(2))).size).toBe(made.length);
  });

  it('begin alike for a while, and fill all directories alike', () => {
    expect(shardsOf(made.slice(0, 256)).size).toBe(1);
    expect(shardsOf(made.slice(256, 512))).not.toEqual(shardsOf(made.slice(0, 256)));
    const counts = new Map<string, number>();
    for (const id of made) counts.set(id.slice(0, 2), (counts.get(id.slice(0, 2)) ?? 0) + 1);
    expect(counts.size).toBe(256);
    expect(new Set(counts.values())).toEqual(new Set([256]));
  });
});
