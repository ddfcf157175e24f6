/** How tests compile TypeScript: as the build does. In Jest's sandbox, import() has to be require(). */
const { readFileSync } = require('node:fs');
const path = require('node:path');

const { jsc } = JSON.parse(readFileSync(path.join(__dirname, '../../.swcrc'), 'utf8'));

exports.SWC_OPTIONS = { jsc, module: { type: 'commonjs' }, sourceMaps: 'inline', swcrc: false };
