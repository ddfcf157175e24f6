/** The version of Plinth, as its package.json has it. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Found upwards from this file, because the build lies one folder deeper than the sources. */
function readVersion(folder: string): string {
  try {
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      name: string;
      version: string;
    };
    if (name === 'plinth') return version;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const parent = dirname(folder);
  if (parent === folder) throw new Error('the package.json of Plinth is missing');
  return readVersion(parent);
}

export const PRODUCT_VERSION = readVersion(__dirname);
