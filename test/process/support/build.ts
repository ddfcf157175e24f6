// Process tests run the built product, so the build has to be that of these sources.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const SET_UP = pathToFileURL(path.resolve(__dirname, '../../../scripts/lib/set-up.mjs')).href;

export default function build(): void {
  const script = `import { setUp } from '${SET_UP}'; await setUp({ development: true, quiet: true });`;
  execFileSync(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'inherit' });
}
