// `npm run soak`: runs the tests that take minutes each, one file at a time. Arguments after `--` go to Jest.
import { ProgramFailed, run } from './lib/run.mjs';
import { assertNodeVersion, bin, ROOT, setUp } from './lib/set-up.mjs';

assertNodeVersion();
await setUp({ development: true });
const args = [...process.argv.slice(2), '--runInBand', '--selectProjects', 'soak'];
try {
  await run('The soak', process.execPath, [bin('jest', 'bin/jest.js'), ...args], { cwd: ROOT, echo: true });
} catch (error) {
  if (!(error instanceof ProgramFailed)) throw error;
  process.stdout.write(`${error.message}\n`);
  process.exitCode = 1;
}
