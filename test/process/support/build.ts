// Builds the product before process tests, which run the build.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const SET_UP = pathToFileURL(path.resolve(__dirname, '../../../scripts/lib/set-up.mjs')).href;

export default function build(): void {
  const script = `import { setUp } from '${SET_UP}'; await setUp({ development: true, quiet: true });`;
  execFileSync(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'inherit' });
}
