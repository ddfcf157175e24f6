/** Work that takes long on the event loop, in slices: between them other work has its turn. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds. */
const SLICE_MS = 5;

/** Work that rests goes on behind what rests already, one in each turn of the loop: many at once hold it no longer than one. */
let line: Promise<void> = Promise.resolve();

export class Slices {
  private until = performance.now() + SLICE_MS;

  /** Whether it is time to rest. Worth asking every few microseconds at most: it looks at the clock. */
  get isOver(): boolean {
    return performance.now() >= this.until;
  }

  async rest(): Promise<void> {
    line = line.then(() => nextTurn());
    await line;
    this.until = performance.now() + SLICE_MS;
  }
}

/** Runs work that stops between its steps, each of which takes microseconds. */
export async function inSlices<T>(steps: Iterator<void, T>): Promise<T> {
  const slices = new Slices();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (slices.isOver) await slices.rest();
  }
}
