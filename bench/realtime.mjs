// Changes of tables over WebSockets: the time from the commit to the client, the fan-out of one change, the memory of idle sockets, and
// what a subscription costs the requests of its project (docs/reference/changes.md).
//   npm run bench -- realtime [--only=latency,fan-out,idle,requests] [--seconds=5] [--sockets=1000] [--quick]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { sharedMemoryMiB } from './lib/cpu.mjs';
import { httpLoad } from './lib/http-load.mjs';
import { call, startPlinth } from './lib/plinth.mjs';

const { values: given } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string' },
    seconds: { type: 'string' },
    sockets: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
});
const SECONDS = Number(given.seconds ?? (given.quick ? 2 : 5));
const SOCKETS = Number(given.sockets ?? (given.quick ? 100 : 1_000));
const ROUNDS = given.quick ? 1 : 5;
const CHANGES_PER_SECOND = 100;
const FANOUT = 5 * SOCKETS;
const IDLE = 10 * SOCKETS;
/** Rooms among which the sockets are spread when not all of them follow every change. */
const ROOMS = 50;
const REQUEST_CONNECTIONS = 16;

const DESIGN = `Supabase Realtime, as its documentation describes it: one connection reads the log of a project with wal2json, and one
database function checks each change for each subscription in turn, on a single thread, so that their number decides the time.
Plinth checks once for each batch and distinct set of claims.`;

const SCHEMA = `create table changes (id int primary key, room int not null, text text not null);
  create policy everybody on changes for select to anon, authenticated using (true);
  create table notes (id int primary key, text text not null);
  insert into notes select n, repeat('x', 100) from generate_series(1, 10000) n;
  create policy everybody on notes for select to anon, authenticated using (true);
  create publication supabase_realtime for table changes`;

let plinth;
let project;
let nextId = 0;

const PARTS = {
  async latency() {
    const all = { event: '*', schema: 'public', table: 'changes' };
    const rooms = Array.from({ length: ROOMS }, (_, room) => ({ ...all, filter: `room=eq.${room}` }));
    const tokens = await signedUp(ROOMS);
    await latency(`${SOCKETS} sockets in ${ROOMS} rooms, 1 set of claims`, rooms, [project.anon_key]);
    await latency(`${SOCKETS} sockets in ${ROOMS} rooms, ${ROOMS} sets of claims`, rooms, tokens);
    await latency(`${SOCKETS} sockets, all changes, 1 set of claims`, [all], [project.anon_key]);
  },

  async 'fan-out'() {
    const clients = new Clients();
    const all = { event: '*', schema: 'public', table: 'changes' };
    await clients.ask({
      open: { url: socketUrl(), tokens: [project.anon_key], channels: [all], count: FANOUT },
    });
    for (let n = 0; n < 10; n += 1) {
      await change();
      await sleep(1_000);
    }
    const { spreads } = await clients.ask({ take: true });
    const reached = spreads.reduce((sum, { count }) => sum + count, 0);
    const last = spreads.map((one) => one.last);
    print(
      `one change to ${FANOUT} sockets`,
      `last socket after ${shown(last)}; ${reached} of ${10 * FANOUT} messages`,
    );
    clients.end();
  },

  async idle() {
    const clients = new Clients();
    const before = memory();
    await clients.ask({ idle: { url: socketUrl(), count: IDLE } });
    await sleep(2_000);
    print(`${IDLE} idle sockets`, `${(memory() - before).toFixed(0)} MiB`);
    clients.end();
  },

  async requests() {
    const path = `/p/${project.slug}/rest/v1/notes?id=eq.`;
    const headers = keys(project.anon_key);
    const requests = Array.from({ length: 1_000 }, (_, n) => ({ path: path + (n + 1) }));
    const load = () =>
      httpLoad(
        { url: plinth.baseUrl, headers, requests },
        { connections: REQUEST_CONNECTIONS, seconds: SECONDS },
      );
    await load();
    const [without, withOne] = [[], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      without.push((await load()).rate);
      const clients = new Clients();
      const channels = [{ event: '*', schema: 'public', table: 'changes' }];
      await clients.ask({ open: { url: socketUrl(), tokens: [project.anon_key], channels, count: 1 } });
      withOne.push((await load()).rate);
      clients.end();
    }
    const share = withOne.map((rate, round) => rate / without[round]);
    print(
      'reads by key with a quiet subscription',
      `${quantile(share, 0.5).toFixed(3)} of the rate without (${share.map((one) => one.toFixed(2)).join(', ')})`,
    );
  },
};

/** Sockets in a process of their own, so that their work does not delay the clock of the changes. */
class Clients {
  constructor() {
    this.child = fork(new URL('./lib/sockets.mjs', import.meta.url), { serialization: 'advanced' });
  }

  async ask(message) {
    this.child.send(message);
    const [{ result, error }] = await once(this.child, 'message');
    if (error) throw new Error(error);
    return result;
  }

  end() {
    this.child.kill();
  }
}

async function latency(name, channels, tokens) {
  const clients = new Clients();
  await clients.ask({ open: { url: socketUrl(), tokens, channels, count: SOCKETS } });
  const total = SECONDS * CHANGES_PER_SECOND;
  const begun = performance.now();
  let late = 0;
  const sent = [];
  for (let n = 0; n < total; n += 1) {
    const due = begun + (n * 1_000) / CHANGES_PER_SECOND;
    late = Math.max(late, performance.now() - due);
    await sleep(Math.max(0, due - performance.now()));
    sent.push(change());
  }
  await Promise.all(sent);
  const rate = total / ((performance.now() - begun) / 1_000);
  await sleep(2_000);
  const { latencies } = await clients.ask({ take: true });
  const expected = (total * SOCKETS) / channels.length;
  print(
    name,
    `${shown(latencies)}; ${latencies.length} of ${expected} messages, ${rate.toFixed(0)} changes a second`,
  );
  clients.end();
}

function change() {
  const id = nextId++;
  const body = { id, room: id % ROOMS, text: 'x'.repeat(100) };
  return call(
    `${plinth.baseUrl}/p/${project.slug}/rest/v1/changes`,
    'POST',
    keys(project.service_role_key),
    body,
  );
}

/** Access tokens of new users, so that each is a set of claims. */
async function signedUp(count) {
  const tokens = [];
  for (let n = 0; n < count; n += 1) {
    const answer = await call(
      `${plinth.baseUrl}/v1/auth/${project.id}/signup`,
      'POST',
      { apikey: project.anon_key },
      { email: `user-${n}@example.com`, password: 'correct horse' },
    );
    tokens.push(answer.session.access_token);
  }
  return tokens;
}

const socketUrl = () =>
  `${plinth.baseUrl.replace('http', 'ws')}/p/${project.slug}/realtime/v1/websocket?apikey=${project.anon_key}&vsn=2.0.0`;
const keys = (key) => ({ apikey: key, authorization: `Bearer ${key}` });
const memory = () => sharedMemoryMiB(plinth.pid);
const quantile = (values, share) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * share)] ?? NaN;
const shown = (times) =>
  `p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms`;
const print = (name, result) => console.log(`${name}: ${result} (load ${loadavg()[0].toFixed(1)})`);

console.log(DESIGN);
plinth = await startPlinth({ MAX_CLIENT_CONNECTIONS: '40000', AUTH_REQUESTS_PER_MINUTE: '100000' });
try {
  project = await plinth.admin('POST', '/admin/v1/projects', {
    name: 'Bench',
    plan: 'enterprise',
    settings: { realtime_sockets: 40_000 },
  });
  await plinth.admin('POST', `/admin/v1/projects/${project.id}/sql`, { query: SCHEMA });
  const chosen = given.only?.split(',') ?? Object.keys(PARTS);
  for (const part of chosen) await PARTS[part]();
} finally {
  await plinth.stop();
}
