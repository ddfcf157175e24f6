import { FairStarts } from './fair-starts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('FairStarts', () => {
  it('starts all requests at once while one tenant is present', () => {
    const starts = new FairStarts();
    let started = 0;
    for (let n = 0; n < 100; n += 1) starts.take('one', () => (started += 1));
    expect(started).toBe(100);
  });

  it("starts another tenant's request before most of a flood, and all of the flood in the end, in order", async () => {
    const starts = new FairStarts();
    const order: string[] = [];
    const take = (tenant: string, name: string): void => starts.take(tenant, () => order.push(name));
    take('flood', 'first');
    take('neighbour', 'n0');
    for (let n = 0; n < 100; n += 1) take('flood', String(n));
    take('neighbour', 'n1');
    take('neighbour', 'n2');
    await turn();
    take('neighbour', 'n3');
    expect(order.indexOf('n3')).toBeLessThan(20);
    for (let n = 0; n < 60; n += 1) await turn();
    expect(order.filter((name) => /^\d/.test(name))).toEqual(
      Array.from({ length: 100 }, (_, n) => String(n)),
    );
    expect(order.filter((name) => name.startsWith('n'))).toEqual(['n0', 'n1', 'n2', 'n3']);
  });
});
