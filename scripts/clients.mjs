// `npm run clients`: generates a client by each generator of clients/, compiles it and runs a scenario with it. Lints the
// documents and tests the examples, too. `npm run clients -- hey-api kubb` does so for these generators alone; other
// arguments go to Jest, such as `linters` or `examples`.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { ProgramFailed, run } from './lib/run.mjs';
import { assertNodeVersion, bin, ROOT, setUp, setUpClients } from './lib/set-up.mjs';

assertNodeVersion();
await setUp({ development: true });
try {
  await setUpClients({ all: true });
  const args = [...testsOf(process.argv.slice(2)), '--runInBand', '--selectProjects', 'clients'];
  await run('The clients', process.execPath, [bin('jest', 'bin/jest.js'), ...args], {
    cwd: ROOT,
    echo: true,
  });
} catch (error) {
  if (!(error instanceof ProgramFailed)) throw error;
  process.stdout.write(`${error.output}\n${error.message}\n`);
  process.exitCode = 1;
}

/** Names of generators become a filter for the titles of their tests. */
function testsOf(args) {
  const generators = readdirSync(path.join(ROOT, 'clients', 'generators'));
  const chosen = args.filter((arg) => generators.includes(arg));
  if (chosen.length === 0) return args;
  const others = args.filter((arg) => !generators.includes(arg));
  return ['generators', `--testNamePattern=^(${chosen.join('|')}) `, ...others];
}
