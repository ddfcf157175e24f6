// Bundles a scenario and its client to one file that Node runs: node bundle.mjs <folder> <name of the scenario>
import path from 'node:path';
import { build } from 'esbuild';

const [folder = '.', name = 'scenario'] = process.argv.slice(2);
await build({
  absWorkingDir: path.resolve(folder),
  entryPoints: [`${name}.ts`],
  outfile: `${name}.mjs`,
  bundle: true,
  platform: 'node',
  format: 'esm',
  logLevel: 'error',
  // Packages in CommonJS need it.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
});
