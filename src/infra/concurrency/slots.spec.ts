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
  it('run as many tasks at once as there are slots, and the rest in order of arrival', async () => {
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

  it('refuse a task at once when the queue is full', async () => {
    const slots = new Slots(1, 1);
    const [running, waiting] = [held(), held()];
    const done = [slots.use(running.work, full)];
    expect(slots.isFull).toBe(false);
    done.push(slots.use(waiting.work, full));
    expect(slots.isFull).toBe(true);
    await expect(slots.use(async () => undefined, full)).rejects.toThrow('full');
    running.end();
    waiting.end();
    await Promise.all(done);
  });

  it('are released when the work fails', async () => {
    const slots = new Slots(1, 0);
    const failure = new Error('no');
    await expect(slots.use(() => Promise.reject(failure), full)).rejects.toBe(failure);
    await expect(slots.use(async () => 'yes', full)).resolves.toBe('yes');
  });
});
