/** Measures what a process of tests, with the server in it, holds in memory while something runs. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Milliseconds between probes at least, and before the first one. */
const INTERVAL_MS = 50;
const FIRST_MS = 5;
/**
 * A probe waits so many times what the one before it took: a full collection of a Jest process takes longer than any
 * interval on a busy machine, and the server would hardly run between two.
 */
const REST = 4;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes. What is garbage already, of the test's own client too, does not count. */
export function memoryInUse(): number {
  collectGarbage();
  // V8 frees buffers in a thread of its own, and waits for it when it collects again.
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/**
 * @returns the most bytes that were in use at a time during the work, above what was before it
 * @throws when the work was done before it was looked at
 */
export async function mostMemoryAdded(work: () => Promise<unknown>): Promise<number> {
  const before = memoryInUse();
  let most = -Infinity;
  let timer: NodeJS.Timeout;
  const probe = (): void => {
    const begin = performance.now();
    most = Math.max(most, memoryInUse() - before);
    timer = setTimeout(probe, Math.max(INTERVAL_MS, REST * (performance.now() - begin)));
  };
  timer = setTimeout(probe, FIRST_MS);
  try {
    await work();
  } finally {
    clearTimeout(timer);
  }
  if (most === -Infinity) throw new Error('nothing was measured: the work is too short');
  return most;
}
