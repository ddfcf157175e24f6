// The contestants: Plinth over HTTP, and the same SQL without HTTP (a bare loop over Plinth's driver and, if it is on PATH,
// pgbench); PostgREST is in postgrest.mjs. Each has a name, first(workload, drawn), which returns one response to compare,
// run(workload, connections, seconds), and the pid of its process. The pid is null if its CPU time cannot be measured alone,
// because the loop runs in the measuring process.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { httpLoad } from './http-load.mjs';
import { run } from './run.mjs';

const require = createRequire(import.meta.url);

/** Connections of each contestant to the database: Plinth's default for a project. */
export const DATABASE_CONNECTIONS = 12;
/** More clients of pgbench are not faster on few cores, and an owner may hold only 40 connections in all. */
const PGBENCH_CLIENTS = 16;

const CONTEXT = `select set_config('request.jwt.claims', $1, true), set_config('role', 'authenticated', true)`;

/** The first response of a contestant that does not show its responses. */
export const NOT_SHOWN = Symbol('not shown');

/** Characters of an unexpected response that are printed. */
const SHOWN = 300;

/** The claims of a token in the form in which Plinth passes them to PostgreSQL. */
function claimsOf(token) {
  const { claimsText } = require('../../dist/src/access/claims-text.js');
  const signed = Buffer.from(token.split('.')[1], 'base64url').toString();
  const claims = JSON.parse(signed);
  return claimsText(claims, signed, claims.sub);
}

/** Number of requests that are generated in advance and then sent in turn. */
const DRAWN = 20_000;
/** Maximum bytes of these requests together. */
const DRAWN_BYTES = 8_000_000;

export function httpContestant(name, url, headers, pid) {
  const { origin, pathname } = new URL(url);
  const base = pathname.replace(/\/$/, '');
  return {
    name,
    pid,
    first: async ({ method, headers: more, request, status }, drawn) => {
      const { path: rest, body } = request(drawn);
      const answer = await fetch(origin + base + rest, { method, headers: { ...headers, ...more }, body });
      const text = await answer.text();
      if (answer.status !== status) throw new Error(`it answered ${answer.status}: ${text.slice(0, SHOWN)}`);
      return text === '' ? null : JSON.parse(text);
    },
    run: ({ method, headers: more, request, draw: choose }, connections, seconds) => {
      const draw = () => {
        const { path: rest, body } = request(choose());
        return { path: base + rest, body };
      };
      const { path: first, body = '' } = draw();
      const count = Math.min(DRAWN, Math.ceil(DRAWN_BYTES / (first.length + body.length)));
      const requests = Array.from({ length: count }, draw);
      return httpLoad(
        { url: origin, method, headers: { ...headers, ...more }, requests },
        { connections, seconds },
      );
    },
  };
}

async function connect(database) {
  const { PooledConnection } = require('../../dist/src/database/pools/pooled-connection.js');
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
}

/** Result of a workload's SQL for a user: the expected rows, or null if it returns none. Its writes persist. */
async function answerOf(connection, token, { sql, values }, drawn) {
  const context = { text: CONTEXT, values: [claimsOf(token)] };
  const [, { rows }] = await connection.pipeline([context, { text: sql, values: values(drawn) }]);
  return Object.values(rows[0] ?? {})[0] ?? null;
}

/** The expected responses. */
export async function reference(database, token) {
  const connection = await connect(database);
  return {
    answer: (workload, drawn) => answerOf(connection, token, workload, drawn),
    stop: () => connection.close(),
  };
}

/** The context and the statement in one round trip by Plinth's driver, without HTTP. */
export async function bareContestant(database, token) {
  const context = { name: 'bare-context', text: CONTEXT, values: [claimsOf(token)] };
  const connections = await Promise.all(
    Array.from({ length: DATABASE_CONNECTIONS }, () => connect(database)),
  );
  return {
    name: 'bare pg',
    pid: null,
    first: (workload, drawn) => answerOf(connections[0], token, workload, drawn),
    async run({ name, sql, values, draw }, wanted, seconds) {
      const latencies = [];
      const end = performance.now() + seconds * 1000;
      const loop = async (connection) => {
        while (performance.now() < end) {
          const start = performance.now();
          await connection.pipeline([context, { name, text: sql, values: values(draw()) }]);
          latencies.push(performance.now() - start);
        }
      };
      await Promise.all(connections.slice(0, wanted).map(loop));
      latencies.sort((a, b) => a - b);
      const at = (share) => latencies[Math.floor(share * (latencies.length - 1))];
      return { rate: latencies.length / seconds, p50: at(0.5), p99: at(0.99), failed: 0 };
    },
    stop: () => Promise.all(connections.map((connection) => connection.close())),
  };
}

/** The same pipeline by PostgreSQL's own benchmark: the limit of the database. */
export function pgbenchContestant(database, token) {
  if (spawnSync('pgbench', ['--version']).status !== 0) return null;
  const claims = claimsOf(token);
  const env = { ...process.env, PGPASSWORD: database.owner_password };
  const where = ['-h', database.host, '-p', String(database.port), '-U', database.owner_role];
  const directory = mkdtempSync(path.join(tmpdir(), 'plinth-pgbench-'));
  const bench = (workload, mode) => {
    const script = path.join(directory, 'script.sql');
    writeFileSync(script, pgbenchScript(workload, claims));
    const options = ['-n', '-M', 'prepared', '-j1', ...mode, '-f', script];
    return run('pgbench', [...where, ...options, database.database], env);
  };
  return {
    name: 'pgbench',
    pid: null,
    /** pgbench prints no results, only errors. */
    first: async (workload) => {
      await bench(workload, ['-c1', '-t1']);
      return NOT_SHOWN;
    },
    async run(workload, connections, seconds) {
      const mode = [`-c${Math.min(connections, PGBENCH_CLIENTS)}`, `-T${seconds}`];
      const printed = await bench(workload, mode);
      return { rate: Number(/tps = ([\d.]+)/.exec(printed)[1]), p50: NaN, p99: NaN, failed: 0 };
    },
    stop: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** pgbench's variables cannot hold JSON, so texts are literals, in hexadecimal because pgbench interprets colons. */
function pgbenchScript({ sql, values, random, draw }, claims) {
  const literal = (value) =>
    typeof value === 'number'
      ? String(value)
      : `convert_from('\\x${Buffer.from(value).toString('hex')}', 'UTF8')`;
  const fixed = values(draw());
  const statement = sql.replace(/\$(\d)/g, (_, n) =>
    random ? ':value' : castOf(sql, literal(fixed[n - 1])),
  );
  return [
    ...(random ? [`\\set value random(${random[0]}, ${random[1]})`] : []),
    '\\startpipeline',
    `${CONTEXT.replace('$1', literal(claims))};`,
    `${statement.replace(/\s+/g, ' ')};`,
    '\\endpipeline',
    '',
  ].join('\n');
}

/** json_to_recordset needs a cast, because it does not accept text. */
function castOf(sql, value) {
  return sql.includes('json_to_recordset') ? `${value}::json` : value;
}
