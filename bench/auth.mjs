// Throughput and latency of table REST without sign-ins, with sign-ins that saturate the hashing threads, and with a flood of
// sign-ins, most of which are refused. The runs take turns; medians are compared (docs/reference/auth.md, "Cost of sign-ins").
import { httpLoad } from './lib/http-load.mjs';
import { call, startPlinth } from './lib/plinth.mjs';

/** Seconds of one run. */
const SECONDS = Number(process.env.BENCH_SECONDS ?? 5);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const CONNECTIONS = Number(process.env.BENCH_CONNECTIONS ?? 16);
const PASSWORD = 'correct horse';
/** Hash of PASSWORD at the default cost. */
const HASH = '$2b$10$1ACIqsCr9iaF9MBhOSkC6eUK4DHnsNw27caDo8SkCbNTkS4.LgD6e';

/** Number of clients. Each signs in again after a response, or after the seconds of Retry-After. */
const SITUATIONS = [
  { name: 'no sign-ins', clients: 0 },
  { name: 'sign-ins saturated', clients: 32 },
  { name: 'sign-ins flooded', clients: 300 },
];

async function main() {
  const plinth = await startPlinth();
  try {
    const { project, target } = await prepare(plinth);
    const runs = SITUATIONS.map(() => []);
    await httpLoad(target, { connections: CONNECTIONS, seconds: 5 });
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [index, { clients }] of SITUATIONS.entries()) {
        runs[index].push(await measure(plinth, project, target, clients));
      }
    }
    print(runs.map(medianOf));
  } finally {
    await plinth.stop();
  }
}

async function prepare({ admin, baseUrl }) {
  const project = await admin('POST', '/admin/v1/projects', { name: 'Bench', plan: 'enterprise' });
  await admin('POST', `/admin/v1/projects/${project.id}/sql`, {
    query: `create table notes (id int primary key, text text not null);
      insert into notes select n, repeat('x', 100) from generate_series(1, 10000) n;
      create policy everybody on notes to authenticated using (true); analyze notes`,
  });
  const users = Math.max(...SITUATIONS.map(({ clients }) => clients));
  for (let n = 0; n < users; n += 1) {
    await call(
      `${baseUrl}/v1/auth/${project.id}/admin/users`,
      'POST',
      { apikey: project.service_role_key, authorization: `Bearer ${project.service_role_key}` },
      // One precomputed hash for all users: 300 hashes would take half a minute.
      { email: `user-${n}@example.com`, password_hash: HASH },
    );
  }
  const { session } = await call(
    `${baseUrl}/v1/auth/${project.id}/login`,
    'POST',
    { apikey: project.anon_key },
    { email: 'user-0@example.com', password: PASSWORD },
  );
  const headers = { apikey: project.anon_key, authorization: `Bearer ${session.access_token}` };
  const requests = Array.from({ length: 1_000 }, (_, n) => ({ path: `/rest/v1/notes?id=eq.${n + 1}` }));
  return { project, target: { url: baseUrl, requests, headers } };
}

async function measure({ baseUrl }, project, target, clients) {
  const flood = startSignIns(baseUrl, project, clients);
  // Wait until the queue has its full length.
  await new Promise((resolve) => setTimeout(resolve, clients > 0 ? 1_000 : 0));
  flood.count();
  const result = await httpLoad(target, { connections: CONNECTIONS, seconds: SECONDS });
  const { signedIn, turnedAway, failed, slowest } = flood.count();
  await flood.stop();
  if (failed > 0) throw new Error(`${failed} sign-ins failed`);
  return { ...result, signedIn: signedIn / SECONDS, turnedAway: turnedAway / SECONDS, slowest };
}

function startSignIns(baseUrl, project, clients) {
  let counts = { signedIn: 0, turnedAway: 0, failed: 0, slowest: 0 };
  let isOn = true;
  const client = async (n) => {
    while (isOn) {
      const begin = performance.now();
      const response = await fetch(`${baseUrl}/v1/auth/${project.id}/login`, {
        method: 'POST',
        headers: { apikey: project.anon_key, 'content-type': 'application/json' },
        body: JSON.stringify({ email: `user-${n}@example.com`, password: PASSWORD }),
      });
      await response.arrayBuffer();
      counts.slowest = Math.max(counts.slowest, performance.now() - begin);
      if (response.status === 200) counts.signedIn += 1;
      else if (response.status === 429) {
        counts.turnedAway += 1;
        await new Promise((resolve) =>
          setTimeout(resolve, 1000 * Number(response.headers.get('retry-after'))),
        );
      } else counts.failed += 1;
    }
  };
  const running = Array.from({ length: clients }, (_, n) => client(n));
  return {
    /** Counts since the last call. */
    count() {
      const before = counts;
      counts = { signedIn: 0, turnedAway: 0, failed: 0, slowest: 0 };
      return before;
    },
    async stop() {
      isOn = false;
      await Promise.all(running);
    },
  };
}

function medianOf(results) {
  const median = (key) =>
    results.map((one) => one[key]).sort((a, b) => a - b)[Math.floor(results.length / 2)];
  return Object.fromEntries(Object.keys(results[0]).map((key) => [key, median(key)]));
}

function print(medians) {
  const number = (value, digits, width) => value.toFixed(digits).padStart(width);
  console.log(
    `table REST, one row by key, ${CONNECTIONS} connections, ${SECONDS} s each, median of ${ROUNDS} in turn\n` +
      'situation             requests/s   p50 ms   p99 ms   throughput      p99   sign-ins/s   429/s   slowest s',
  );
  medians.forEach((result, index) => {
    const { rate, p50, p99, failed, signedIn, turnedAway, slowest } = result;
    console.log(
      `${SITUATIONS[index].name.padEnd(20)} ${number(rate, 0, 11)} ${number(p50, 1, 8)} ${number(p99, 1, 8)}` +
        `   1/${number(medians[0].rate / rate, 2, 8)} ${number(p99 / medians[0].p99, 2, 8)}` +
        ` ${number(signedIn, 1, 12)} ${number(turnedAway, 1, 7)} ${number(slowest / 1000, 1, 11)}${failed ? `   ${failed} FAILED` : ''}`,
    );
  });
}

await main();
