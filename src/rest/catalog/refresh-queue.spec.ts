import { RefreshQueue } from './project-catalog';

describe('RefreshQueue', () => {
  function controlled() {
    const starts: (() => void)[] = [];
    const queue = new RefreshQueue(() => new Promise<void>((resolve) => starts.push(resolve)));
    return { starts, queue };
  }
  const settle = () => new Promise((resolve) => setImmediate(resolve));

  it('gives a caller the result of a run that began after the call', async () => {
    const { starts, queue } = controlled();
    let second = false;
    void queue.run();
    const asked = queue.run().then(() => (second = true));
    starts[0]?.();
    await settle();
    expect([starts.length, second]).toEqual([2, false]);
    starts[1]?.();
    await asked;
    expect(second).toBe(true);
  });

  it('shares one further run among all waiting callers', async () => {
    const { starts, queue } = controlled();
    void queue.run();
    const all = Promise.all([queue.run(), queue.run(), queue.run()]);
    starts[0]?.();
    await settle();
    starts[1]?.();
    await all;
    expect(starts).toHaveLength(2);
  });

  it('continues after a run that failed', async () => {
    let calls = 0;
    const queue = new RefreshQueue(async () => {
      calls += 1;
      if (calls === 1) throw new Error('no');
    });
    await expect(queue.run()).rejects.toThrow('no');
    await expect(queue.run()).resolves.toBeUndefined();
  });
});
