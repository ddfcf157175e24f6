/** Whether a cost grows with a size in proportion, whatever a machine's speed. */

/** Milliseconds, the least of several runs: what else the machine does only ever adds to it. */
export function leastTime(work: () => unknown, runs = 9): number {
  const times = Array.from({ length: runs }, () => {
    const begin = performance.now();
    work();
    return performance.now() - begin;
  });
  return Math.min(...times);
}

/** Below this a clock tells nothing. */
const LEAST_MS = 0.02;

/**
 * How many times as long work takes for eight times the size: about 8 when it is linear, 64 when it is quadratic. 40 is far
 * from both.
 */
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
