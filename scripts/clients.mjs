// `npm run clients`: generates a client by each generator of clients/, compiles it and runs a scenario with it.
// Arguments after `--` go to Jest.
import { ProgramFailed, run } from './lib/run.mjs';
import { assertNodeVersion, bin, ROOT, setUp, setUpClients } from './lib/set-up.mjs';

assertNodeVersion();
await setUp({ development: true });
try {
  await setUpClients({ all: true });
  const args = [...process.argv.slice(2), '--runInBand', '--selectProjects', 'clients'];
  await run('The clients', process.execPath, [bin('jest', 'bin/jest.js'), ...args], {
    cwd: ROOT,
    echo: true,
  });
} catch (error) {
  if (!(error instanceof ProgramFailed)) throw error;
  process.stdout.write(`${error.output}\n${error.message}\n`);
  process.exitCode = 1;
}
