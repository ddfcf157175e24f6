// Throughput, latency, CPU and memory of table REST for workloads W1 to W6. Compares Plinth in turns with the same work without
// HTTP, and with PostgREST if POSTGREST_BIN or PATH has it. Compare the ratios, because absolute figures depend on the machine
// (docs/internals/performance.md). A contestant whose first response to a workload is wrong is left out.
//   [POSTGREST_BIN=FILE] npm run bench -- rest [--quick] [--only=W1,W5] [--seconds=5] [--rounds=3] [--connections=16,64]
//     [--wide] [--rows=100000] [--yardsticks=bare,pgbench,postgrest] [--workers=2 --redis=URL] [--cpu-prof=DIR]
import { parseArgs } from 'node:util';
import { withRightAnswer } from './lib/check.mjs';
import { bareContestant, httpContestant, pgbenchContestant, reference } from './lib/contestants.mjs';
import { cpuSeconds, peakMemoryMiB, resetPeakMemory } from './lib/cpu.mjs';
import { loadProgram } from './lib/http-load.mjs';
import { call, startPlinth } from './lib/plinth.mjs';
import { postgrestContestant } from './lib/postgrest.mjs';
import { fill, ROWS, schemaOf, VARIANTS, workloadsOf } from './lib/workloads.mjs';

const { values: given } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    // Prefixes of names.
    only: { type: 'string', default: 'W' },
    seconds: { type: 'string' },
    rounds: { type: 'string' },
    connections: { type: 'string' },
    // Use texts of 200 characters, and policies that read the claims as JSON.
    wide: { type: 'boolean', default: false },
    rows: { type: 'string', default: String(ROWS) },
    yardsticks: { type: 'string', default: 'bare,pgbench,postgrest' },
    workers: { type: 'string', default: '1' },
    redis: { type: 'string', default: '' },
    'cpu-prof': { type: 'string' },
  },
});
/** Seconds of one run. Each workload begins with a warm-up run that is not counted. */
const SECONDS = Number(given.seconds ?? (given.quick ? 2 : 5));
/** Runs of each contestant, in turns; the result is the median. */
const ROUNDS = Number(given.rounds ?? (given.quick ? 1 : 3));
const CONNECTIONS = (given.connections ?? (given.quick ? '16' : '16,64')).split(',').map(Number);
const ONLY = given.only.split(',');
const VARIANT = given.wide ? VARIANTS.wide : VARIANTS.narrow;
const WORKLOADS = workloadsOf(VARIANT, Number(given.rows)).filter(({ name }) =>
  ONLY.some((start) => name.startsWith(start)),
);
/** Contestants beside Plinth. */
const YARDSTICKS = given.yardsticks.split(',').filter(Boolean);
const PROFILE = given['cpu-prof'] === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${given['cpu-prof']}`];

/** Long enough for V8 to compile the hot code. */
const WARM_UP_SECONDS = given.quick ? 1 : 3;

async function main() {
  const plinth = await startPlinth({ WORKERS: given.workers, REDIS_URL: given.redis }, PROFILE);
  const ending = [];
  try {
    const field = await prepare(plinth, ending);
    console.log(`HTTP load by ${loadProgram}; ${field.contestants.map(({ name }) => name).join(', ')}`);
    for (const connections of CONNECTIONS) await compare(field, plinth, connections);
  } finally {
    for (const { stop } of ending) await stop?.();
    await plinth.stop();
  }
}

/**
 * Creates a project with the tables and a signed-in user. The first contestant is Plinth.
 * @param ending collects everything that must be stopped
 */
async function prepare(plinth, ending) {
  const project = await plinth.admin('POST', '/admin/v1/projects', {
    name: 'Bench',
    plan: 'enterprise',
    // PostgREST and the driver verify the same token with a secret.
    settings: { jwt_algorithm: 'HS256' },
  });
  const sql = (query) => plinth.admin('POST', `/admin/v1/projects/${project.id}/sql`, { query });
  await sql(schemaOf(VARIANT));
  const { user, session } = await call(
    `${plinth.baseUrl}/v1/auth/${project.id}/signup`,
    'POST',
    { apikey: project.anon_key },
    { email: 'bench@example.com', password: 'correct horse' },
  );
  for (const step of fill(user.id, VARIANT, Number(given.rows))) await sql(step);
  const token = session.access_token;
  const headers = { apikey: project.anon_key, authorization: `Bearer ${token}` };
  const database = await plinth.admin('GET', `/admin/v1/projects/${project.id}/database`);
  const { jwt_secret: secret } = await plinth.admin('GET', `/admin/v1/projects/${project.id}/keys`);
  const makers = {
    bare: () => bareContestant(database, token),
    pgbench: () => pgbenchContestant(database, token),
    postgrest: () => postgrestContestant(database, secret, headers),
  };
  const compared = await reference(database, token);
  ending.push(compared);
  const contestants = [httpContestant('plinth', `${plinth.baseUrl}/rest/v1`, headers, plinth.pid)];
  for (const name of YARDSTICKS) {
    const contestant = await contestantOrNull(name, makers[name]);
    if (contestant === null) continue;
    contestants.push(contestant);
    ending.push(contestant);
  }
  return { contestants, reference: compared };
}

/** Returns null if the contestant is not installed, or if it does not start; the latter is printed. */
async function contestantOrNull(name, make) {
  try {
    return await make();
  } catch (error) {
    console.log(`${name} is left out, because ${error.message}`);
    return null;
  }
}

async function compare({ contestants: all, reference: compared }, plinth, connections) {
  console.log(`\n${connections} connections, ${SECONDS} s each, median of ${ROUNDS}`);
  console.log(
    'workload              contestant   requests/s   p50 ms   p99 ms   CPU s/1,000: own + database   peak MiB   plinth/this',
  );
  for (const workload of WORKLOADS) {
    const contestants = await withRightAnswer(all, workload, compared, (line) => console.log(line));
    if (contestants[0] !== all[0]) throw new Error(`Plinth gave a wrong answer to ${workload.name}`);
    const runs = contestants.map(() => []);
    for (const contestant of contestants) await contestant.run(workload, connections, WARM_UP_SECONDS);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [index, contestant] of contestants.entries()) {
        runs[index].push(await measure(contestant, plinth, workload, connections));
      }
    }
    const medians = runs.map(medianOf);
    medians.forEach((result, index) => print(workload.name, contestants[index].name, result, medians[0]));
  }
}

async function measure({ pid, run }, { postgresPid }, workload, connections) {
  const cpu = () => [pid === null ? NaN : cpuSeconds(pid, postgresPid), cpuSeconds(postgresPid)];
  if (pid !== null) resetPeakMemory(pid, postgresPid);
  const before = cpu();
  const result = await run(workload, connections, SECONDS);
  const [own, database] = cpu().map(
    (after, index) => (1000 * (after - before[index])) / (result.rate * SECONDS),
  );
  return { ...result, own, database, memory: pid === null ? NaN : peakMemoryMiB(pid, postgresPid) };
}

function medianOf(results) {
  const median = (key) =>
    results.map((one) => one[key]).sort((a, b) => a - b)[Math.floor(results.length / 2)];
  return Object.fromEntries(Object.keys(results[0]).map((key) => [key, median(key)]));
}

function print(workload, contestant, { rate, p50, p99, failed, own, database, memory }, plinth) {
  const number = (value, digits, width) => (isNaN(value) ? '–' : value.toFixed(digits)).padStart(width);
  console.log(
    `${workload.padEnd(21)} ${contestant.padEnd(10)} ${number(rate, 0, 12)} ${number(p50, 1, 8)} ${number(p99, 1, 8)}` +
      `   ${`${number(own, 3, 0)} + ${number(database, 3, 0)}`.padStart(27)} ${number(memory, 0, 10)}` +
      ` ${number(plinth.rate / rate, 2, 13)}${failed ? `   ${failed} FAILED` : ''}`,
  );
}

await main();
