import { Slots } from './slots';

const full = (): Error => new Error('full');

/** Work that ends when the test resolves it. */
function held(): { work: () => Promise<void>; started: () => boolean; end: () => void } {
  let start = false;
  let end = (): void => undefined;
  const over = new Promise<void>((resolve) => (end = resolve));
  return {
    work: () => {
      start = true;
      return over;
    },
    started: () => start,
    end: () => end(),
  };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('slots', () => {
  it('run as many tasks concurrently as there are slots, and the rest in order of arrival', async () => {
    const slots = new Slots(2, 10);
    const tasks = [held(), held(), held(), held()];
    const done = tasks.map(({ work }) => slots.use(work, full));
    await settle();
    expect(tasks.map(({ started }) => started())).toEqual([true, true, false, false]);
    tasks[1]?.end();
    await settle();
    expect(tasks.map(({ started }) => started())).toEqual([true, true, true, false]);
    for (const { end } of tasks) end();
    await Promise.all(done);
    expect(slots.waiting).toBe(0);
  });

  it('immediately refuse a task when the queue is full', async () => {
    const slots = new Slots(1, 1);
    const [running, waiting] = [held(), held()];
    const done = [slots.use(running.work, full)];
    expect(slots.isFull()).toBe(false);
    done.push(slots.use(waiting.work, full));
    expect(slots.isFull()).toBe(true);
    await expect(slots.use(async () => undefined, full)).rejects.toThrow('full');
    running.end();
    waiting.end();
    await Promise.all(done);
  });

  it('are given to tenants in turn, regardless of the number of their tasks', async () => {
    const slots = new Slots(1, 10);
    const first = held();
    const order: string[] = [];
    const task = (tenant: string, name: string): Promise<unknown> =>
      slots.use(async () => order.push(name), full, tenant);
    const done: Promise<unknown>[] = [slots.use(first.work, full, 'a')];
    for (const name of ['a1', 'a2', 'a3']) done.push(task('a', name));
    for (const name of ['b1', 'b2']) done.push(task('b', name));
    done.push(task('c', 'c1'));
    first.end();
    await Promise.all(done);
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  it('refuse the last task of the tenant with most tasks, when the queue is full and another tenant comes', async () => {
    const slots = new Slots(1, 3);
    const first = held();
    const order: string[] = [];
    const task = (tenant: string, name: string): Promise<unknown> =>
      slots.use(async () => order.push(name), full, tenant).catch(() => order.push(`${name} refused`));
    const done: Promise<unknown>[] = [slots.use(first.work, full, 'a')];
    for (const name of ['a1', 'a2', 'a3']) done.push(task('a', name));
    expect([slots.isFull('a'), slots.isFull('b')]).toEqual([true, false]);
    done.push(task('b', 'b1'));
    // With two tasks against one, an exchange would only swap the two tenants.
    expect([slots.isFull('a'), slots.isFull('b')]).toEqual([true, true]);
    await expect(slots.use(async () => undefined, full, 'b')).rejects.toThrow('full');
    expect(slots.waiting).toBe(3);
    first.end();
    await Promise.all(done);
    expect(order).toEqual(['a3 refused', 'a1', 'b1', 'a2']);
    expect(slots.waiting).toBe(0);
  });

  it('are released when the work fails', async () => {
    const slots = new Slots(1, 0);
    const failure = new Error('no');
    await expect(slots.use(() => Promise.reject(failure), full)).rejects.toBe(failure);
    await expect(slots.use(async () => 'yes', full)).resolves.toBe('yes');
  });
});
