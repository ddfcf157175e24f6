// Preloaded into the Plinth of process tests: changes values that are no settings (src/config/tuning.ts). Its threads preload this
// too, and have no environment.
const { join } = require('node:path');
const { isMainThread } = require('node:worker_threads');

if (isMainThread) {
  const { TUNING } = require(join(process.env.PLINTH_TEST_BUILD, 'src/config/tuning.js'));
  Object.assign(TUNING, JSON.parse(process.env.PLINTH_TEST_TUNING));
}
