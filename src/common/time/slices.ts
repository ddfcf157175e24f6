/** Work that takes long on the event loop, in slices: between them everybody else has a turn. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds. */
const SLICE_MS = 5;

/** Who rests goes on behind those who rest already, one in each turn of the loop: many at once hold it no longer than one. */
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
