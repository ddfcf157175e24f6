/** Work that takes long on the event loop, in slices: between them everybody else has a turn. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds. */
const SLICE_MS = 5;

export class Slices {
  private until = performance.now() + SLICE_MS;

  /** Whether it is time to rest. Worth asking every few microseconds at most: it looks at the clock. */
  get isOver(): boolean {
    return performance.now() >= this.until;
  }

  async rest(): Promise<void> {
    await nextTurn();
    this.until = performance.now() + SLICE_MS;
  }
}
