// Preloaded into the Plinth of process tests: changes values that are no settings (src/config/tuning.ts).
const { join } = require('node:path');

const { TUNING } = require(join(process.env.PLINTH_TEST_BUILD, 'src/config/tuning.js'));
Object.assign(TUNING, JSON.parse(process.env.PLINTH_TEST_TUNING));
