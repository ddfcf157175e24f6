import { Slices } from './slices';

it('continues one piece of work per turn of the event loop, in the order in which they yielded', async () => {
  let turn = 0;
  let isOver = false;
  const count = (): void => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const resumed: { who: number; turn: number }[] = [];
  const work = async (who: number): Promise<void> => {
    const slices = new Slices();
    for (let slice = 0; slice < 3; slice += 1) {
      await slices.yieldToLoop();
      resumed.push({ who, turn });
    }
  };
  await Promise.all([0, 1, 2, 3].map(work));
  isOver = true;
  expect(resumed.map(({ who }) => who)).toEqual([0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]);
  expect(new Set(resumed.map((one) => one.turn)).size).toBe(resumed.length);
});

it('ends a slice in time', () => {
  const slices = new Slices();
  const begin = performance.now();
  while (!slices.isOver) if (performance.now() - begin > 10_000) throw new Error('the slice did not end');
});
