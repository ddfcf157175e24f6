// Table REST: throughput and latency of W1..W6, interleaved with the same work done by a bare node-postgres loop in one
// round trip and, where a `postgrest` binary is on PATH, by PostgREST. Prints ratios; absolute figures vary with machines.
import { spawn, spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import autocannon from 'autocannon';
import { cpuSeconds, peakMemoryMiB } from './lib/cpu.mjs';
import { call, freePort, startPlinth } from './lib/plinth.mjs';

const require = createRequire(import.meta.url);
const { PooledConnection } = require('../dist/src/database/pools/pooled-connection.js');

const SECONDS = Number(process.env.BENCH_SECONDS ?? 5);
const CONNECTIONS = (process.env.BENCH_CONNECTIONS ?? '16,64').split(',').map(Number);
const ROWS = 100_000;
const CATEGORIES = 400;

const SCHEMA = `
  create table authors (id int primary key, name text not null);
  create table items (
    id int primary key, owner uuid not null, category int not null, author_id int not null references authors,
    title text not null, price numeric(10, 2) not null, created_at timestamptz not null default now());
  create table comments (id int primary key, item_id int not null references items, text text not null);
  create table entries (
    id bigint generated always as identity primary key, owner uuid not null default auth.uid(),
    title text not null, amount int not null, created_at timestamptz not null default now());
  create index on items (category, id);
  create index on comments (item_id);
  create policy own on items to authenticated using (owner = (select auth.uid()));
  create policy own on entries to authenticated using (owner = (select auth.uid())) with check (owner = (select auth.uid()));
  create policy all_authors on authors for select to authenticated using (true);
  create policy all_comments on comments for select to authenticated using (true);
  insert into authors select n, 'Author ' || n from generate_series(1, 500) n;`;

const fill = (owner) => `
  insert into items select n, case when n % 10 = 0 then gen_random_uuid() else '${owner}' end, n % ${CATEGORIES},
    1 + n % 500, 'Item number ' || n, n % 1000 + 0.5 from generate_series(1, ${ROWS}) n;
  insert into comments select n, 1 + n % ${ROWS}, 'Comment ' || n from generate_series(1, ${3 * ROWS}) n;
  analyze`;

const random = (n) => 1 + Math.floor(Math.random() * n);
const entry = () => ({ title: `Entry ${random(1e6)}`, amount: random(1000) });
const EMBED = 'select=id,title,authors(name),comments(id,text)&limit=25&order=id';

/** What a client asks for, and the SQL that a bare loop sends for the same answer. */
const WORKLOADS = {
  'W1 row by key': {
    request: () => ({ method: 'GET', path: `/items?id=eq.${random(ROWS)}` }),
    sql: {
      name: 'w1',
      text: `select coalesce(json_agg(t), '[]') from (select * from items where id = $1) t`,
    },
    values: () => [random(ROWS)],
  },
  'W2 page of 25': {
    request: () => ({
      method: 'GET',
      path: `/items?category=eq.${random(CATEGORIES) - 1}&order=id.desc&limit=25`,
    }),
    sql: {
      name: 'w2',
      text: `select coalesce(json_agg(t), '[]') from (select * from items where category = $1 order by id desc limit 25) t`,
    },
    values: () => [random(CATEGORIES) - 1],
  },
  'W3 insert, minimal': {
    request: () => ({
      method: 'POST',
      path: '/entries',
      body: entry(),
      headers: { prefer: 'return=minimal' },
    }),
    sql: { name: 'w3', text: 'insert into entries (title, amount) values ($1, $2)' },
    values: () => [entry().title, random(1000)],
  },
  'W3 insert, with row': {
    request: () => ({
      method: 'POST',
      path: '/entries',
      body: entry(),
      headers: { prefer: 'return=representation' },
    }),
    sql: {
      name: 'w3r',
      text: 'with t as (insert into entries (title, amount) values ($1, $2) returning *) select json_agg(t) from t',
    },
    values: () => [entry().title, random(1000)],
  },
  'W4 insert of 100': {
    request: () => ({
      method: 'POST',
      path: '/entries',
      body: Array.from({ length: 100 }, entry),
      headers: { prefer: 'return=minimal' },
    }),
    sql: {
      name: 'w4',
      text: 'insert into entries (title, amount) select title, amount from json_to_recordset($1) as t(title text, amount int)',
    },
    values: () => [JSON.stringify(Array.from({ length: 100 }, entry))],
  },
  'W5 read of 5,000': {
    request: () => ({ method: 'GET', path: '/items?limit=5000' }),
    sql: { name: 'w5', text: `select coalesce(json_agg(t), '[]') from (select * from items limit 5000) t` },
    values: () => [],
  },
  'W6 page with embeds': {
    request: () => ({ method: 'GET', path: `/items?category=eq.${random(CATEGORIES) - 1}&${EMBED}` }),
    sql: {
      name: 'w6',
      text: `select coalesce(json_agg(t), '[]') from (
        select i.id, i.title, row_to_json(a) as authors, c.list as comments from items i
        left join lateral (select name from authors where id = i.author_id) a on true
        left join lateral (select coalesce(json_agg(x), '[]') as list
          from (select id, text from comments where item_id = i.id) x) c on true
        where category = $1 order by i.id limit 25) t`,
    },
    values: () => [random(CATEGORIES) - 1],
  },
};

async function main() {
  const plinth = await startPlinth();
  const contestants = [];
  try {
    const project = await plinth.admin('POST', '/admin/v1/projects', { name: 'Bench', plan: 'enterprise' });
    const sql = (query) => plinth.admin('POST', `/admin/v1/projects/${project.id}/sql`, { query });
    await sql(SCHEMA);
    const { user, session } = await call(
      `${plinth.baseUrl}/v1/auth/${project.id}/signup`,
      'POST',
      { apikey: project.anon_key },
      { email: 'bench@example.com', password: 'correct horse' },
    );
    await sql(fill(user.id));
    const headers = { apikey: project.anon_key, authorization: `Bearer ${session.access_token}` };
    contestants.push(httpContestant('plinth', `${plinth.baseUrl}/rest/v1`, headers, plinth.pid));
    contestants.push(await bareContestant(plinth, project, session.access_token));
    const postgrest = await postgrestContestant(plinth, project, headers);
    if (postgrest) contestants.push(postgrest);
    else console.log('no `postgrest` on PATH: the bare loop is the only yardstick');
    await compare(contestants, plinth);
    console.log(`\npeak memory of the server: ${peakMemoryMiB(plinth.pid).toFixed(0)} MiB`);
  } finally {
    for (const { stop } of contestants) await stop?.();
    await plinth.stop();
  }
}

async function compare(contestants, plinth) {
  for (const connections of CONNECTIONS) {
    console.log(`\n${connections} connections, ${SECONDS} s each`);
    console.log(
      'workload              contestant   requests/s   p50 ms   p99 ms   CPU s/1,000: server + database   plinth/this',
    );
    for (const [name, workload] of Object.entries(WORKLOADS)) {
      const results = [];
      for (const contestant of contestants) {
        const cpu = () => [cpuSeconds(contestant.pid, plinth.postgresPid), cpuSeconds(plinth.postgresPid)];
        const before = cpu();
        const result = await contestant.run(workload, connections);
        const used = cpu().map((after, i) => after - before[i]);
        results.push({ contestant, ...result, used });
      }
      for (const { contestant, rate, p50, p99, failed, used } of results) {
        const cpu = used.map((seconds) => ((1000 * seconds) / (rate * SECONDS)).toFixed(2)).join(' + ');
        const ratio = (results[0].rate / rate).toFixed(2);
        console.log(
          `${name.padEnd(21)} ${contestant.name.padEnd(10)} ${rate.toFixed(0).padStart(12)} ${p50.toFixed(1).padStart(8)} ` +
            `${p99.toFixed(1).padStart(8)}   ${cpu.padStart(30)}   ${ratio.padStart(11)}${failed ? `   ${failed} FAILED` : ''}`,
        );
      }
    }
  }
}

function httpContestant(name, url, headers, pid) {
  return {
    name,
    pid,
    async run(workload, connections) {
      const result = await autocannon({
        url,
        connections,
        duration: SECONDS,
        requests: [
          {
            setupRequest: (request) => {
              const { method, path, body, headers: own } = workload.request();
              return {
                ...request,
                method,
                path: new URL(url).pathname.replace(/\/$/, '') + path,
                body: body && JSON.stringify(body),
                headers: { ...headers, ...own, ...(body ? { 'content-type': 'application/json' } : {}) },
              };
            },
          },
        ],
      });
      const failed = result.non2xx + result.errors;
      return { rate: result.requests.average, p50: result.latency.p50, p99: result.latency.p99, failed };
    },
  };
}

/** The context and the statement in one pipeline, on as many connections as the product may use. */
async function bareContestant(plinth, project, token) {
  const database = await plinth.admin('GET', `/admin/v1/projects/${project.id}/database`);
  const claims = Buffer.from(token.split('.')[1], 'base64url').toString();
  const context = {
    name: 'bare-context',
    text: `select set_config('request.jwt.claims', $1, true), set_config('role', 'authenticated', true)`,
    values: [claims],
  };
  const connections = await Promise.all(
    Array.from({ length: 12 }, async () => {
      const connection = new PooledConnection({
        key: 'bench',
        host: database.host,
        port: database.port,
        database: database.database,
        user: database.owner_role,
        password: database.owner_password,
        ssl: false,
      });
      await connection.connect();
      return connection;
    }),
  );
  return {
    name: 'bare pg',
    pid: process.pid,
    async run(workload, wanted) {
      const latencies = [];
      const end = performance.now() + SECONDS * 1000;
      const loop = async (connection) => {
        while (performance.now() < end) {
          const start = performance.now();
          await connection.pipeline([context, { ...workload.sql, values: workload.values() }]);
          latencies.push(performance.now() - start);
        }
      };
      await Promise.all(connections.slice(0, wanted).map(loop));
      latencies.sort((a, b) => a - b);
      const at = (share) => latencies[Math.floor(share * (latencies.length - 1))];
      return { rate: latencies.length / SECONDS, p50: at(0.5), p99: at(0.99), failed: 0 };
    },
    stop: () => Promise.all(connections.map((connection) => connection.close())),
  };
}

async function postgrestContestant(plinth, project, headers) {
  if (spawnSync('postgrest', ['--version']).status !== 0) return null;
  const { owner_url: uri } = await plinth.admin('GET', `/admin/v1/projects/${project.id}/database`);
  const { jwt_secret: secret } = await plinth.admin('GET', `/admin/v1/projects/${project.id}/keys`);
  const port = await freePort();
  const child = spawn('postgrest', [], {
    env: {
      ...process.env,
      PGRST_DB_URI: uri,
      PGRST_DB_ANON_ROLE: 'anon',
      PGRST_DB_SCHEMAS: 'public',
      PGRST_DB_POOL: '12',
      PGRST_JWT_SECRET: secret,
      PGRST_SERVER_PORT: String(port),
      PGRST_LOG_LEVEL: 'crit',
    },
    stdio: 'ignore',
  });
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const contestant = httpContestant('postgrest', `http://127.0.0.1:${port}`, headers, child.pid);
  return { ...contestant, stop: () => child.kill() };
}

await main();
