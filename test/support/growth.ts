/** Tests whether a cost grows linearly with a size, independent of the machine's speed. */

/** Minimum of several runs in milliseconds, because other load on the machine only adds time. */
export function leastTime(work: () => unknown, runs = 9): number {
  const times = Array.from({ length: runs }, () => {
    const begin = performance.now();
    work();
    return performance.now() - begin;
  });
  return Math.min(...times);
}

/** Shorter times are too inaccurate to compare. */
const LEAST_MS = 0.02;

/** The ratio of times for eight times the size: about 8 if linear, 64 if quadratic. 40 is far from both. */
export function growthOfTime(work: (size: number) => unknown, size: number): number {
  work(8 * size);
  return (
    leastTime(() => work(8 * size)) /
    Math.max(
      leastTime(() => work(size)),
      LEAST_MS,
    )
  );
}
