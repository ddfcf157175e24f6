import { barsOf, chartOf } from './result-chart';

const rows = [
  { day: '2026-01-01', total: '10', change: -5, note: '7 apples' },
  { day: '2026-01-02', total: null, change: 5, note: null },
];

it('finds the columns of numbers, also those that arrive as text', () => {
  expect(chartOf(rows)).toEqual({
    numbers: ['total', 'change'],
    labels: ['day', 'note', 'total', 'change'],
  });
  expect(chartOf([{ day: 'x' }])).toBeNull();
  expect(chartOf([{ nothing: null }])).toBeNull();
  expect(chartOf([])).toBeNull();
});

it('draws bars from zero, up and down', () => {
  expect(barsOf(rows, 'day', 'change')).toEqual([
    { label: '2026-01-01', value: -5, from: 0, height: 0.5 },
    { label: '2026-01-02', value: 5, from: 0.5, height: 0.5 },
  ]);
  expect(barsOf([{ a: 0 }], 'a', 'a')).toEqual([{ label: '0', value: 0, from: 0, height: 0 }]);
});
