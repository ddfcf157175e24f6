// Bundles a scenario and its client to one file that Node runs: node bundle.mjs <folder>
import path from 'node:path';
import { build } from 'esbuild';

const folder = process.argv[2] ?? '.';
await build({
  absWorkingDir: path.resolve(folder),
  entryPoints: ['scenario.ts'],
  outfile: 'scenario.mjs',
  bundle: true,
  platform: 'node',
  format: 'esm',
  logLevel: 'error',
  // Packages in CommonJS need it.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
});
