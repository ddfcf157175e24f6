/** `npm run bench -- rest` with PostgREST: Plinth's benchmark configures it correctly, and excludes wrong responses. */
import path from 'node:path';
import { Program, ROOT } from './support/processes';
import { IN_SOAK } from '../support/extent';

const STAND_IN = path.join(ROOT, 'test/process/support/postgrest-stand-in.mjs');
const LIMIT_MS = 240_000;

/** Settings of another PostgREST in the environment, which must have no effect. */
const environment = (binary: string, fault: string): NodeJS.ProcessEnv => ({
  ...process.env,
  POSTGREST_BIN: binary,
  STAND_IN: fault,
  PGRST_JWT_SECRET: 'of-another-postgrest-0123456789-0123456789',
  PGRST_DB_URI: 'postgresql://nobody@127.0.0.1:1/nothing',
});

/** The output of a short run. */
async function bench(fault: string): Promise<string> {
  const options = [
    '--quick',
    '--rows=5000',
    '--seconds=1',
    '--connections=2',
    '--yardsticks=postgrest',
    '--only=W1,W3',
  ];
  const env = environment(STAND_IN, fault);
  const program = Program.start(process.execPath, ['bench/rest.mjs', ...options], { env });
  const { code } = await program.exited;
  expect([code, program.output]).toEqual([0, expect.stringContaining('plinth/this')]);
  return program.output;
}

/** The workloads for which a contestant has results. */
function measured(printed: string, contestant: string): string[] {
  const line = new RegExp(`^(W\\d .*?) +${contestant} +\\d+ `, 'gm');
  return [...printed.matchAll(line)].map(([, workload]) => workload as string);
}

const W1 = 'W1 row by key';
const W3 = ['W3 insert, minimal', 'W3 insert, with row'];

(IN_SOAK ? it : it.skip)(
  'measures PostgREST, which accepts a token with a kid',
  async () => {
    const printed = await bench('nothing');
    expect(printed).not.toMatch(/left out|FAILED/);
    expect(measured(printed, 'postgrest')).toEqual([W1, ...W3]);
    expect(measured(printed, 'plinth')).toEqual([W1, ...W3]);
  },
  LIMIT_MS,
);

(IN_SOAK ? it : it.skip)(
  'excludes a contestant from each workload with a wrong response, and prints the reason',
  async () => {
    const printed = await bench('answers wrongly');
    expect(printed).toMatch(
      /^W1 row by key: postgrest is left out, because it answered \[.*\] where \[.*\] is right$/m,
    );
    expect(printed).toMatch(
      /^W3 insert, minimal: postgrest is left out, because it answered \[.*\] where null is right$/m,
    );
    expect(measured(printed, 'postgrest')).toEqual(['W3 insert, with row']);
    expect(measured(printed, 'plinth')).toEqual([W1, ...W3]);
  },
  LIMIT_MS,
);

it.each([
  ['/nowhere/postgrest', 'nothing', /^POSTGREST_BIN=\/nowhere\/postgrest does not run: .*ENOENT/],
  [STAND_IN, 'ends', /^it ended with 1; it printed: FATAL: password authentication failed/],
])('reports why %s is excluded if %s is wrong', async (binary, fault, reason) => {
  const head = Buffer.from('{"alg":"HS256","kid":"a"}').toString('base64url');
  const script = `
    import { postgrestContestant } from './bench/lib/postgrest.mjs';
    const headers = { authorization: 'Bearer ${head}.e30.x' };
    await postgrestContestant({ owner_url: 'postgresql://' }, 'secret', headers).catch(({ message }) => console.log(message));`;
  const env = environment(binary, fault);
  const program = Program.start(process.execPath, ['--input-type=module', '--eval', script], { env });
  await program.exited;
  expect(program.output).toMatch(reason);
});
