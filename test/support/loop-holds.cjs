// Preloaded into a Plinth process by tests: appends to a file for how long its main thread held the event loop, in milliseconds of CPU, so
// that the time of other programs and threads is not counted. Linux.
const { openSync, readSync, writeSync } = require('node:fs');
const { isMainThread } = require('node:worker_threads');

const FILE = process.env.PLINTH_TEST_LOOP_HOLDS;
/** Shorter ones are not written. */
const LEAST_MS = 5;

if (isMainThread && FILE) {
  const out = openSync(FILE, 'a');
  const stat = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  const buffer = Buffer.alloc(128);
  /** The first number is the nanoseconds that the thread has run. */
  const used = () =>
    Number.parseInt(buffer.toString('latin1', 0, readSync(stat, buffer, 0, buffer.length, 0)), 10) / 1e6;
  process.on('SIGWINCH', () => {
    const until = used() + Number(process.env.PLINTH_TEST_HOLD_MS);
    while (used() < until);
  });
  let before = used();
  setInterval(() => {
    const held = used() - before;
    if (held >= LEAST_MS) writeSync(out, `${held.toFixed(1)}\n`);
    before = used();
  }, 1).unref();
}
