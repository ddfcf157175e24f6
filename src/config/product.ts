/** The version of Plinth, its folder, and how its command line is called. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

interface Product {
  /** The folder of package.json. */
  readonly root: string;
  readonly version: string;
  /** The command that starts the command line. The image holds only the build, without npm's scripts. */
  readonly commandLine: string;
}

/** Looks for package.json upwards from this file: the build lies one folder deeper than the sources. */
function findProduct(folder: string): Product {
  const file = join(folder, 'package.json');
  if (existsSync(file)) {
    const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
    const isClone = existsSync(join(folder, 'scripts/plinth.mjs'));
    return { root: folder, version, commandLine: isClone ? 'npm run plinth --' : 'node dist/src/cli.js' };
  }
  const parent = dirname(folder);
  if (parent === folder) throw new Error('the package.json of Plinth is missing');
  return findProduct(parent);
}

export const PRODUCT: Product = Object.freeze(findProduct(__dirname));
