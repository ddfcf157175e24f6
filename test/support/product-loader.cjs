// Loads the product outside of Jest's module registry, once for all test files of a worker. Jest would load its 3,000 modules
// again for every file, and the code would never run long enough for V8 to compile it.
const crypto = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { transformSync, version } = require('@swc/core');
const { SWC_OPTIONS } = require('./swc-options.cjs');

const ROOT = path.join(__dirname, '../..');
const CACHE = path.join(ROOT, 'node_modules/.cache/product-loader');

/**
 * A key that scrypt has derived before, from the same passphrase, salt and parameters, is taken from memory: tests read the same
 * archive many times, and each derivation is meant to take a third of a second.
 */
const { createHash, scrypt } = crypto;
const derived = new Map();
crypto.scrypt = (passphrase, salt, length, options, done) => {
  const key = JSON.stringify([passphrase, salt.toString('base64'), length, options]);
  const known = derived.get(key);
  if (known) return void setImmediate(done, null, Buffer.from(known));
  scrypt(passphrase, salt, length, options, (error, made) => {
    if (!error) derived.set(key, Buffer.from(made));
    done(error, made);
  });
};

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
