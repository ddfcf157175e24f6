import { ceilingOf, linePath, slotsOf } from './chart';

it('has a slot for every step, also if there were no requests', () => {
  const now = Date.parse('2026-01-01T08:03:30Z');
  const sample = { at: '2026-01-01T08:02:00.000Z', requests: 3 };
  const slots = slotsOf([sample], { stepSeconds: 60, count: 3, now });
  expect(slots.map(({ at, sample: one }) => [new Date(at).toISOString(), one])).toEqual([
    ['2026-01-01T08:01:00.000Z', null],
    ['2026-01-01T08:02:00.000Z', sample],
    ['2026-01-01T08:03:00.000Z', null],
  ]);
});

it('scales to a round number', () => {
  expect([0, Number.NaN, 0.3, 1, 7, 11, 4001].map(ceilingOf)).toEqual([1, 1, 0.5, 1, 10, 20, 5000]);
});

it('draws a line with gaps', () => {
  expect(linePath([0, 10, null, 5], 10)).toBe('M12.5 100h12.5L37.5 0M87.5 50h12.5');
  expect(linePath([null, null], 10)).toBe('');
});
