#!/usr/bin/env node
// Stands in for PostgREST in the benchmark's test: takes its configuration from the same variables, verifies tokens by its rules,
// and answers two of the workloads from the same database. STAND_IN says what is wrong with it.
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import pg from 'pg';

const { STAND_IN: fault = 'nothing', ...env } = process.env;

if (process.argv.includes('--version')) {
  console.log('PostgREST stand-in');
  process.exit(0);
}
if (fault === 'ends') {
  console.error('FATAL: password authentication failed');
  process.exit(1);
}

/** PostgREST 14 and later: a token that names its key is good only with a key of that name. */
function claimsOf(authorization) {
  const [head, body, signature] = (authorization ?? '').replace(/^Bearer /, '').split('.');
  const { alg, kid } = JSON.parse(Buffer.from(head, 'base64url'));
  const key = keys().find((one) => one.kid === kid || kid === undefined);
  if (alg !== 'HS256' || !key) return null;
  const made = createHmac('sha256', Buffer.from(key.k, 'base64url'))
    .update(`${head}.${body}`)
    .digest('base64url');
  return made === signature ? JSON.parse(Buffer.from(body, 'base64url')) : null;
}

/** A plain secret is a key without a name. */
function keys() {
  const secret = env.PGRST_JWT_SECRET;
  if (!secret.startsWith('{')) return [{ k: Buffer.from(secret).toString('base64url') }];
  return JSON.parse(secret).keys;
}

const pool = new pg.Pool({ connectionString: env.PGRST_DB_URI, max: Number(env.PGRST_DB_POOL) });

async function query(claims, text, values) {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query(`select set_config('role', $1, true), set_config('request.jwt.claims', $2, true)`, [
      claims.role ?? env.PGRST_DB_ANON_ROLE,
      JSON.stringify(claims),
    ]);
    const { rows } = await client.query(text, values);
    await client.query('commit');
    return rows[0]?.answer ?? null;
  } finally {
    client.release();
  }
}

async function textOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function answer(request) {
  const claims = claimsOf(request.headers.authorization);
  if (!claims) return [401, { code: 'PGRST301', message: 'No suitable key or wrong key type' }];
  const url = new URL(request.url, 'http://stand.in');
  if (request.method === 'GET') {
    const id = url.searchParams.get('id')?.replace('eq.', '') ?? '0';
    const text = `select coalesce(json_agg(t), '[]') as answer from (select * from public.items where id = $1) t`;
    const rows = await query(claims, text, [Number(id) + (fault === 'answers wrongly' ? 1 : 0)]);
    return [200, rows];
  }
  const { title, amount } = JSON.parse(await textOf(request));
  const text = `with t as (insert into public.entries (title, amount) values ($1, $2) returning *)
    select json_agg(t) as answer from t`;
  const rows = await query(claims, text, [title, amount]);
  const showsRows = request.headers.prefer === 'return=representation';
  return [201, showsRows || fault === 'answers wrongly' ? rows : null];
}

createServer((request, response) => {
  answer(request)
    .catch((error) => [500, { message: error.message }])
    .then(([status, body]) => response.writeHead(status).end(body === null ? '' : JSON.stringify(body)));
}).listen(Number(env.PGRST_SERVER_PORT), env.PGRST_SERVER_HOST);
