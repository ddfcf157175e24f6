// The environment of e2e tests: Node's, in which all test files of a worker share one loaded copy of the product.
const { TestEnvironment } = require('jest-environment-node');
const { loadProduct } = require('./product-loader.cjs');

module.exports = class ProductEnvironment extends TestEnvironment {
  async setup() {
    await super.setup();
    this.global.loadProduct = loadProduct;
  }
};
