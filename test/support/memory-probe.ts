/** Measures how much memory the test process, which contains the server, uses while some work runs. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Least number of milliseconds between probes, and before the first probe. */
const INTERVAL_MS = 50;
const FIRST_MS = 5;
/**
 * The delay before a probe, as a multiple of the duration of the previous probe. On a busy machine a full collection
 * of a Jest process takes longer than any fixed interval, and the server would hardly run between two probes.
 */
const REST = 4;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Number of bytes in use, without garbage. */
export function memoryInUse(): number {
  collectGarbage();
  // V8 frees buffers in a separate thread; the next collection waits for it.
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/**
 * @returns the maximum of bytes in use during the work, minus the bytes before it
 * @throws if the work ended before the first probe
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
