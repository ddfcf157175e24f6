import { BUCKETS, bucketOf, percentileOf } from './duration-histogram';

function histogramOf(durations: readonly number[]): number[] {
  const counts = Array.from({ length: BUCKETS }, () => 0);
  for (const ms of durations) counts[bucketOf(ms)] = (counts[bucketOf(ms)] ?? 0) + 1;
  return counts;
}

it('has no percentile without durations', () => expect(percentileOf(histogramOf([]), 0.5)).toBeNull());

it.each([0, -1, NaN, 0.5])('puts %d ms into the first bucket', (ms) => expect(bucketOf(ms)).toBe(0));

it.each([70_000, 1e12, Infinity])('puts %d ms into the last bucket', (ms) =>
  expect(bucketOf(ms)).toBe(BUCKETS - 1),
);

it.each([0.5, 0.9, 0.99])('estimates the share %d within the width of a bucket', (share) => {
  const durations = Array.from({ length: 1_000 }, (_, n) => 1.007 ** n);
  const exact = durations[share * 1_000 - 1] as number;
  const estimate = percentileOf(histogramOf(durations), share) as number;
  expect(estimate / exact).toBeGreaterThan(1 / Math.SQRT2);
  expect(estimate / exact).toBeLessThan(Math.SQRT2);
});

it('separates a slow hundredth from the rest', () => {
  const counts = histogramOf([
    ...Array.from({ length: 980 }, () => 3),
    ...Array.from({ length: 20 }, () => 900),
  ]);
  expect(percentileOf(counts, 0.5)).toBeLessThan(5);
  expect(percentileOf(counts, 0.99)).toBeGreaterThan(600);
});
