// Three kinds of test in one run: unit beside the source, integration against PostgreSQL, e2e over HTTP.
const path = require('node:path');
const { SWC_OPTIONS } = require('./test/support/swc-options.cjs');

/** Packages that are published as ES modules only: Jest cannot require() them on Node 20, so swc turns them into CommonJS. */
const ES_MODULES = ['openid-client', 'oauth4webapi', 'jose', 'age-encryption', '@noble', '@scure'];

const swc = ['@swc/jest', SWC_OPTIONS];

const EQUALITY = path.join(__dirname, 'test/support/buffer-equality.ts');
const PRODUCT = path.join(__dirname, 'test/support/product-transform.cjs');

/** Packages whose classes and errors tests compare with those of the product. */
const SHARED_PACKAGES = ['typeorm', 'pg', 'pg-protocol'];

/** Modules that tests share with the running product; the document checker is there because it is slow to load. */
const SHARED = `^(${__dirname}/((src|migrations)/|test/support/documented/document-checker)|.*/node_modules/(${SHARED_PACKAGES.join('|')})/)`;

const common = {
  rootDir: __dirname,
  // By default it is in the directory for temporary files, which `npm test` removes.
  cacheDirectory: path.join(__dirname, 'node_modules/.cache/jest'),
  testEnvironment: 'node',
  setupFilesAfterEnv: [EQUALITY],
  transform: { '^.+\\.[cm]?[tj]s$': swc },
  transformIgnorePatterns: ES_MODULES.length
    ? [`/node_modules/(?!(${ES_MODULES.join('|')})/)`]
    : ['/node_modules/'],
};

const lifecycleOfDatabase = {
  globalSetup: path.join(__dirname, 'test/support/global-setup.ts'),
  globalTeardown: path.join(__dirname, 'test/support/global-teardown.ts'),
};
const withDatabase = { ...common, ...lifecycleOfDatabase };

/** All test files of a worker share one loaded copy of the product. */
const withProduct = {
  ...common,
  testEnvironment: path.join(__dirname, 'test/support/product-environment.cjs'),
  transform: { [SHARED]: PRODUCT, ...common.transform },
  transformIgnorePatterns: [`/node_modules/(?!(${SHARED_PACKAGES.join('|')})/)`],
};

const withDatabaseAndProduct = { ...withProduct, ...lifecycleOfDatabase };

module.exports = {
  projects: [
    {
      ...common,
      displayName: 'unit',
      testMatch: [
        '<rootDir>/src/**/*.spec.ts',
        '<rootDir>/console/src/**/*.spec.ts',
        '<rootDir>/test/unit/**/*.spec.ts',
      ],
    },
    {
      ...withDatabaseAndProduct,
      displayName: 'integration',
      testMatch: ['<rootDir>/test/integration/**/*.int-spec.ts'],
    },
    { ...withDatabaseAndProduct, displayName: 'e2e', testMatch: ['<rootDir>/test/e2e/**/*.e2e-spec.ts'] },
    // Starts, kills and restarts whole processes on data directories of its own.
    {
      ...withProduct,
      displayName: 'process',
      globalSetup: path.join(__dirname, 'test/process/support/build.ts'),
      globalTeardown: path.join(__dirname, 'test/process/support/clean-up.ts'),
      setupFilesAfterEnv: [EQUALITY, path.join(__dirname, 'test/process/support/patience.ts')],
      testMatch: ['<rootDir>/test/process/**/*.proc-spec.ts'],
    },
    // Generators of clients that take minutes together: `npm run clients`, which `npm test` leaves out.
    { ...withDatabase, displayName: 'clients', testMatch: ['<rootDir>/test/clients/**/*.clients-spec.ts'] },
    // Long and statistical: `npm run soak`, which `npm test` leaves out.
    { ...withDatabase, displayName: 'soak', testMatch: ['<rootDir>/test/soak/**/*.soak-spec.ts'] },
  ],
  // Finds a test that hangs. What takes a second on an idle machine takes a minute on one with much else to do.
  testTimeout: 120_000,
  // Jest keeps the modules of each file that a worker has run: at several GB the collector takes most of the time.
  workerIdleMemoryLimit: '768MB',
  testSequencer: path.join(__dirname, 'test/support/slow-first.cjs'),
  // Many tests wait, so four keep two cores busy.
  maxWorkers: 4,
};
