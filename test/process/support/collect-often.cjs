// Preloaded into a process whose memory is measured: it collects garbage often, so that the memory is that of what is held.
// V8 on its own lets garbage grow to an amount that depends on the version of Node.js: 48 MiB of objects on 20, 192 MiB on 24.
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

const INTERVAL_MS = 50;
/** The pause after a collection, as a multiple of its duration. */
const REST = 3;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

function collect() {
  const begin = performance.now();
  collectGarbage();
  setTimeout(collect, Math.max(INTERVAL_MS, REST * (performance.now() - begin))).unref();
}
setTimeout(collect, INTERVAL_MS).unref();
