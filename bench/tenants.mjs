// Many projects on one machine: time of each creation, connections and memory of idle projects, the first request to a cold one,
// and throughput over many projects compared with one in the same run (docs/reference/scaling.md). Compare ratios: absolute figures depend
// on the machine and its load, which is printed.
//   npm run bench -- tenants [--projects=200] [--active=200] [--seconds=5] [--rounds=3] [--connections=16] [--rows=1000]
//     [--max-connections=250] [--quick]
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { sharedMemoryMiB, titlesOf } from './lib/cpu.mjs';
import { httpLoad, loadProgram } from './lib/http-load.mjs';
import { call, startPlinth } from './lib/plinth.mjs';

const { values: given } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    projects: { type: 'string' },
    // Projects that get requests at the same time.
    active: { type: 'string' },
    seconds: { type: 'string' },
    rounds: { type: 'string' },
    connections: { type: 'string', default: '16' },
    rows: { type: 'string', default: '1000' },
    // DATABASE_MAX_CONNECTIONS; default: that of the product.
    'max-connections': { type: 'string' },
  },
});
const PROJECTS = Number(given.projects ?? (given.quick ? 10 : 200));
const ACTIVE = Math.min(PROJECTS, Number(given.active ?? 200));
const SECONDS = Number(given.seconds ?? (given.quick ? 1 : 5));
const ROUNDS = Number(given.rounds ?? (given.quick ? 1 : 3));
const CONNECTIONS = Number(given.connections);
const ROWS = Number(given.rows);
/** Requests that are drawn in advance. */
const DRAWN = 4_000;
/** Longer than an idle connection stays open. */
const IDLE_LIMIT_MS = 120_000;

const SCHEMA = `create table notes (id int primary key, text text not null);
  insert into notes select n, repeat('x', 100) from generate_series(1, ${ROWS}) n;
  create policy everybody on notes to anon using (true)`;

async function main() {
  const limit = given['max-connections'];
  const plinth = await startPlinth(limit === undefined ? {} : { DATABASE_MAX_CONNECTIONS: limit });
  try {
    console.log(`${PROJECTS} projects, ${ACTIVE} of them active; HTTP load by ${loadProgram}`);
    const projects = await createAll(plinth);
    await plinth.restart();
    const empty = await whenIdle(plinth);
    report('after a restart, no project used', `${empty.connections} connections, ${mib(empty.memory)}`);
    await visitAll(plinth, projects);
    const idle = await whenIdle(plinth);
    const each = ((idle.memory - empty.memory) / PROJECTS) * 1024;
    report(
      'all projects used, then idle',
      `${idle.connections} connections, ${mib(idle.memory)}, ${each.toFixed(0)} KiB for each project, after ${idle.seconds} s`,
    );
    await compareThroughput(plinth, projects);
  } finally {
    await plinth.stop();
  }
}

async function createAll(plinth) {
  // The demo project of the first start counts as well.
  await plinth.admin('PATCH', '/admin/v1/servers/platform', { capacity: PROJECTS + 10 });
  const projects = [];
  const times = [];
  for (let n = 0; n < PROJECTS; n += 1) {
    const begun = performance.now();
    const project = await plinth.admin('POST', '/admin/v1/projects', {
      name: `Tenant ${n}`,
      slug: `tenant-${n}`,
    });
    times.push(performance.now() - begun);
    await plinth.admin('POST', `/admin/v1/projects/${project.id}/sql`, { query: SCHEMA });
    projects.push(project);
  }
  const tenth = Math.max(1, Math.floor(PROJECTS / 10));
  report('creation', spread(times));
  report(
    '  the first tenth, the last tenth',
    `p50 ${middle(times.slice(0, tenth))}, ${middle(times.slice(-tenth))} ms`,
  );
  return projects;
}

/** The first and the second request to each project, one after the other. */
async function visitAll(plinth, projects) {
  const [first, second] = [[], []];
  for (const { anon_key: apikey } of projects) {
    const headers = { apikey, authorization: `Bearer ${apikey}` };
    for (const times of [first, second]) {
      const begun = performance.now();
      const rows = await call(
        `${plinth.baseUrl}/rest/v1/notes?id=eq.${1 + (times.length % ROWS)}`,
        'GET',
        headers,
      );
      times.push(performance.now() - begun);
      if (rows.length !== 1) throw new Error(`a project answered ${rows.length} rows instead of one`);
    }
  }
  report('first request to a cold project', spread(first));
  report('second request', spread(second));
}

/** Waits until no connection to a project is open, or none was closed for a while. */
async function whenIdle(plinth) {
  const begun = performance.now();
  const connections = () =>
    titlesOf(plinth.postgresPid).filter((title) => / plinth_\w+_login /.test(title)).length;
  while (connections() > 0 && performance.now() - begun < IDLE_LIMIT_MS) await sleep(1_000);
  const seconds = Math.round((performance.now() - begun) / 1_000);
  return { connections: connections(), memory: sharedMemoryMiB(plinth.pid), seconds };
}

async function compareThroughput(plinth, projects) {
  const contestants = [
    { name: 'one project', target: targetOf(plinth, projects.slice(0, 1)), runs: [] },
    { name: `${ACTIVE} projects`, target: targetOf(plinth, projects.slice(0, ACTIVE)), runs: [] },
  ];
  for (const { target } of contestants)
    await httpLoad(target, { connections: CONNECTIONS, seconds: SECONDS });
  for (let round = 0; round < ROUNDS; round += 1)
    for (const { target, runs } of contestants)
      runs.push(await httpLoad(target, { connections: CONNECTIONS, seconds: SECONDS }));
  const [one, many] = contestants.map(({ name, runs }) => {
    const result = runs.sort((a, b) => a.rate - b.rate)[Math.floor(runs.length / 2)];
    const { rate, p50, p99, failed } = result;
    report(
      name,
      `${rate.toFixed(0)} requests/s, p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms, ${failed} failed`,
    );
    return result;
  });
  report(`${ACTIVE} projects / one project`, (many.rate / one.rate).toFixed(2));
}

/** Reads of rows of random projects. */
function targetOf({ baseUrl }, projects) {
  const drawOf = (count) => Math.floor(Math.random() * count);
  const requests = Array.from({ length: DRAWN }, () => ({
    path: `/rest/v1/notes?id=eq.${1 + drawOf(ROWS)}`,
    apikey: projects[drawOf(projects.length)].anon_key,
  }));
  return { url: baseUrl, requests };
}

const sorted = (times) => [...times].sort((a, b) => a - b);
const middle = (times) => sorted(times)[Math.floor(times.length / 2)].toFixed(0);

function spread(times) {
  const at = (share) =>
    sorted(times)[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(0);
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, at most ${at(1)} ms`;
}

const mib = (memory) => `${memory.toFixed(0)} MiB`;

function report(what, figures) {
  console.log(`${what.padEnd(36)} ${figures}   (load ${loadavg()[0].toFixed(1)})`);
}

await main();
