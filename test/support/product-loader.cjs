// Loads the product outside of Jest's module registry, once for all test files of a worker. Jest would load its 3,000 modules
// again for every file, and the code would never run long enough for V8 to compile it.
const { createHash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { transformSync, version } = require('@swc/core');
const { SWC_OPTIONS } = require('./swc-options.cjs');

const ROOT = path.join(__dirname, '../..');
const CACHE = path.join(ROOT, 'node_modules/.cache/product-loader');

require.extensions['.ts'] = (module, filename) => module._compile(compiled(filename), filename);

/** The JavaScript of a file, from the cache if it has been compiled before. */
function compiled(filename) {
  const source = readFileSync(filename, 'utf8');
  const key = [version, JSON.stringify(SWC_OPTIONS), filename, source].join('\0');
  const cached = path.join(CACHE, `${createHash('sha256').update(key).digest('hex')}.js`);
  try {
    return readFileSync(cached, 'utf8');
  } catch {
    const { code } = transformSync(source, { ...SWC_OPTIONS, filename, swcrc: false });
    mkdirSync(CACHE, { recursive: true });
    // Another worker may write the same file.
    writeFileSync(`${cached}.${process.pid}`, code);
    renameSync(`${cached}.${process.pid}`, cached);
    return code;
  }
}

/** @param file absolute */
exports.loadProduct = (file) => require(file);

// Tests derive the key of hundreds of archives, each of which is meant to take a third of a second.
require(path.join(ROOT, 'src/config/tuning.ts')).TUNING.passphraseCost = 1_024;
