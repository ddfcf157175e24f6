// A module of the product in an e2e test is the one that the running product has, so its classes are the tokens of the instances.
const { createTransformer } = require('@swc/jest');
const { SWC_OPTIONS } = require('./swc-options.cjs');

const swc = createTransformer(SWC_OPTIONS);

/** The global set-up runs outside of the environment that has loadProduct, and gets the module itself. */
exports.process = (source, filename, options) => ({
  code: `if (globalThis.loadProduct) module.exports = globalThis.loadProduct(${JSON.stringify(filename)});
else (() => {${swc.process(source, filename, options).code}
})();`,
});
exports.getCacheKey = (...given) => `shared:1:${swc.getCacheKey(...given)}`;
