/** Yields to the event loop during long work, so that other requests are served in between. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds of work between two yields. Another request needs several turns of the loop, and may wait for a slice in each. */
const SLICE_MS = 1;

/** Continues yielded work in order, one piece per turn of the loop, so that many pieces block it no longer than a single piece. */
let queue: Promise<void> = Promise.resolve();

export class Slices {
  private until = performance.now() + SLICE_MS;

  /** True when it is time to yield. Reads the clock: check it at most every few microseconds. */
  get isOver(): boolean {
    return performance.now() >= this.until;
  }

  async yieldToLoop(): Promise<void> {
    queue = queue.then(() => nextTurn());
    await queue;
    this.until = performance.now() + SLICE_MS;
  }
}

/** Runs a generator whose steps take microseconds each, and yields to the event loop every millisecond. */
export async function inSlices<T>(steps: Iterator<void, T>): Promise<T> {
  const slices = new Slices();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (slices.isOver) await slices.yieldToLoop();
  }
}
