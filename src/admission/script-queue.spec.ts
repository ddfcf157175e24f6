import { ScriptQueue } from './script-queue';

const LARGE = 1024 * 1024;

describe('large scripts', () => {
  it('are split one at a time, those of another project before the second of the first', async () => {
    const queue = new ScriptQueue();
    const order: string[] = [];
    let running = 0;
    const work = (name: string) => async () => {
      running += 1;
      await new Promise(setImmediate);
      order.push(`${name}${running}`);
      running -= 1;
    };
    const names = ['a', 'a', 'a', 'b'];
    await Promise.all(names.map((name) => queue.split(name, LARGE, work(name))));
    expect(order).toEqual(['a1', 'a1', 'b1', 'a1']);
  });

  it('of a flood are refused with Retry-After, and a small one is split at once', async () => {
    const queue = new ScriptQueue();
    let end = (): void => undefined;
    const first = queue.split('a', LARGE, () => new Promise<void>((resolve) => (end = resolve)));
    const flood = Array.from({ length: 60 }, () => queue.split('a', LARGE, () => Promise.resolve()));
    const outcomes = Promise.allSettled(flood);
    await expect(queue.split('a', 100, () => Promise.resolve('split'))).resolves.toBe('split');
    end();
    await first;
    const refused = (await outcomes).filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(10);
    expect(refused[0]).toMatchObject({ reason: { status: 503, headers: { 'Retry-After': '2' } } });
  });
});
