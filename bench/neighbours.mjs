// One project floods the others: the latency of its neighbours without it, while it stays within its share, and while it sends ten
// times as much, for floods of each kind (docs/reference/scaling.md). Compare ratios: absolute figures depend on the machine and its load.
//   npm run bench -- neighbours [--only=rows,cpu] [--seconds=4] [--rounds=2] [--quick]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { ADMIN_KEY, call, startPlinth } from './lib/plinth.mjs';

const { values: given } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string' },
    seconds: { type: 'string' },
    rounds: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
});
const SECONDS = Number(given.seconds ?? (given.quick ? 1 : 4));
const ROUNDS = Number(given.rounds ?? (given.quick ? 1 : 2));
const NEIGHBOURS = 4;
/** Clients of each neighbour, and milliseconds between the requests of one. */
const CLIENTS = 2;
const EVERY_MS = 40;
/** Milliseconds after which a flood has its full strength. */
const RISE_MS = given.quick ? 200 : 1_000;

/** Requests of a second that the project may send in `limit`. Its client sends as many, and ten times as many. */
const LIMIT = 100;
const atRate = (rate, clients) => ({ clients, pauseMs: 0, everyMs: (1_000 * clients) / rate });

/** Clients within the project's share and in the flood. Those within it pause after each response, in milliseconds. */
const KINDS = [
  { kind: 'limit', within: atRate(LIMIT, 2), flood: atRate(10 * LIMIT, 20) },
  { kind: 'rows', within: { clients: 2, pauseMs: 50 }, flood: { clients: 20, pauseMs: 0 } },
  { kind: 'sleep', within: { clients: 2, pauseMs: 50 }, flood: { clients: 40, pauseMs: 0 } },
  { kind: 'cpu', within: { clients: 1, pauseMs: 2_000 }, flood: { clients: 20, pauseMs: 0 } },
  { kind: 'bodies', within: { clients: 1, pauseMs: 500 }, flood: { clients: 20, pauseMs: 0 } },
  { kind: 'slow readers', within: { clients: 2, pauseMs: 50 }, flood: { clients: 20, pauseMs: 0 } },
  { kind: 'sign-ups', within: { clients: 1, pauseMs: 1_000 }, flood: { clients: 100, pauseMs: 0 } },
  { kind: 'uploads', within: { clients: 1, pauseMs: 1_000 }, flood: { clients: 20, pauseMs: 0 } },
  { kind: 'ddl', within: { clients: 1, pauseMs: 1_000 }, flood: { clients: 10, pauseMs: 0 } },
].filter(({ kind }) => given.only === undefined || given.only.split(',').includes(kind));

const SCHEMA = `create table notes (id int primary key, text text not null);
  insert into notes select n, repeat('x', 100) from generate_series(1, 1000) n;
  create policy everybody on notes to anon using (true);
  create table texts (text text);
  create table large (id int, text text);
  insert into large select n, repeat('x', 100) from generate_series(1, 100000) n;
  create function nap() returns text stable language sql as $$ select pg_sleep(1)::text $$;
  create function burn() returns bigint stable language sql as $$ select count(*) from generate_series(1, 3000000) n where n % 7 = 1 $$`;

async function main() {
  const plinth = await startPlinth({ TRUST_PROXY: '1', AUTH_REQUESTS_PER_MINUTE: '100000' });
  try {
    const projects = [];
    for (let n = 0; n <= NEIGHBOURS; n += 1) projects.push(await create(plinth, n));
    const [flooding, ...others] = projects;
    await call(
      `${plinth.baseUrl}/p/${flooding.slug}/storage/buckets`,
      'POST',
      asRole(flooding.service_role_key),
      { name: 'flood' },
    );
    await measure(plinth, others);
    for (const one of KINDS) await compare(plinth, flooding, others, one);
  } finally {
    await plinth.stop();
  }
}

async function create({ admin }, n) {
  const project = await admin('POST', '/admin/v1/projects', { name: `Tenant ${n}`, slug: `tenant-${n}` });
  await admin('POST', `/admin/v1/projects/${project.id}/sql`, { query: SCHEMA });
  return project;
}

async function compare(plinth, flooding, neighbours, { kind, within, flood }) {
  const situations = { none: null, within, flood };
  const runs = { none: [], within: [], flood: [] };
  // The clients take much of the same cores: what they do to the neighbours when another server answers them.
  if (kind === 'limit') [situations.alone, runs.alone] = [flood, []];
  const answers = {};
  const limit = kind === 'limit' ? LIMIT : null;
  const settings = { requests_per_second: limit };
  await plinth.admin('PATCH', `/admin/v1/projects/${flooding.id}`, { settings });
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, clients] of Object.entries(situations)) {
      const server = name === 'alone' ? await startBare() : plinth;
      const worker = clients && startFlood(server, flooding, kind, clients);
      if (worker) await sleep(RISE_MS);
      runs[name].push(await measure(plinth, neighbours));
      if (worker) answers[name] = await stopFlood(worker);
      if (name === 'alone') server.child.kill();
      await sleep(RISE_MS / 2);
    }
  }
  const [none, usual, flooded, alone] = Object.values(runs).map((all) => ({
    p50: middle(all.map(({ p50 }) => p50)),
    p99: middle(all.map(({ p99 }) => p99)),
    failed: all.reduce((sum, { failed }) => sum + failed, 0),
  }));
  const shown = ({ p50, p99 }) => `${p50.toFixed(1)} / ${p99.toFixed(1)}`;
  console.log(
    kind.padEnd(14),
    `p50 / p99 ms: none ${shown(none)}, within ${shown(usual)}, tenfold ${shown(flooded)};`,
    `p99 to none ${(flooded.p99 / none.p99).toFixed(2)}, to within ${(flooded.p99 / usual.p99).toFixed(2)};`,
    ...(alone
      ? [`flood to another server ${shown(alone)}, p99 to that ${(flooded.p99 / alone.p99).toFixed(2)};`]
      : []),
    `failed ${none.failed + usual.failed + flooded.failed}; answers ${JSON.stringify(answers.flood)}`,
    `(load ${loadavg()[0].toFixed(1)})`,
  );
}

function startFlood({ baseUrl }, { id, slug, anon_key: anon, service_role_key: service }, kind, clients) {
  const keys = { anon, service, admin: ADMIN_KEY };
  const workerData = { baseUrl, kind, keys, project: { id, slug }, ...clients };
  return new Worker(new URL('./lib/flood.mjs', import.meta.url), { workerData });
}

/** A server of its own process that refuses everything. */
async function startBare() {
  const program = `require('node:http').createServer((q, r) => r.writeHead(429, { 'content-length': 2 }).end('{}'))
    .listen(0, '127.0.0.1', function () { console.log(this.address().port); })`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await once(child.stdout, 'data');
  return { baseUrl: `http://127.0.0.1:${String(port).trim()}`, child };
}

function stopFlood(worker) {
  const ended = new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  worker.postMessage('stop');
  return ended;
}

/** Latencies of rows by key, in milliseconds from the moment at which each request was due. */
async function measure({ baseUrl }, neighbours) {
  const { hostname, port } = new URL(baseUrl);
  const agent = new http.Agent({ keepAlive: true });
  const latencies = [];
  let failed = 0;
  const begun = performance.now();
  const client = async (project, n) => {
    const headers = asRole(project.anon_key);
    for (let due = begun + n; due < begun + SECONDS * 1_000; due += EVERY_MS) {
      await sleep(Math.max(0, due - performance.now()));
      const path = `/rest/v1/notes?id=eq.${1 + (Math.floor(due) % 1000)}`;
      if ((await get({ hostname, port, agent, path, headers })) !== 200) failed += 1;
      latencies.push(performance.now() - due);
    }
  };
  const all = neighbours.flatMap((project, n) =>
    Array.from({ length: CLIENTS }, (_, m) =>
      client(project, (EVERY_MS * (n * CLIENTS + m)) / (NEIGHBOURS * CLIENTS)),
    ),
  );
  await Promise.all(all);
  agent.destroy();
  const sorted = latencies.sort((a, b) => a - b);
  return {
    p50: sorted[Math.floor(sorted.length * 0.5)],
    p99: sorted[Math.floor(sorted.length * 0.99)],
    failed,
  };
}

function get(options) {
  return new Promise((resolve) => {
    const request = http.get(options, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode));
    });
    request.once('error', () => resolve(0));
  });
}

const asRole = (key) => ({ apikey: key, authorization: `Bearer ${key}` });
const middle = (values) => [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)];

await main();
