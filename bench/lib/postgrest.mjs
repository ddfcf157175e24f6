// PostgREST as a contestant: the program that POSTGREST_BIN names, or else `postgrest` on PATH, on the project's own database.
import { spawn, spawnSync } from 'node:child_process';
import { DATABASE_CONNECTIONS, httpContestant } from './contestants.mjs';
import { freePort } from './plinth.mjs';

const START_LIMIT_MS = 30_000;
const POLL_MS = 100;
/** Characters of its output that are printed. */
const SHOWN = 500;

/**
 * @param headers of all requests, with the user's token
 * @returns null if PostgREST is not installed
 * @throws Error with the reason if it does not start
 */
export async function postgrestContestant(database, secret, headers) {
  const command = commandOf(process.env.POSTGREST_BIN);
  if (command === null) return null;
  const port = await freePort();
  const child = spawn(command, [], {
    env: { ...inherited(), ...configuration(database, secret, headers, port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => (printed = (printed + chunk).slice(-SHOWN)));
  const url = `http://127.0.0.1:${port}`;
  try {
    await untilItServes(child, url, headers);
  } catch (error) {
    child.kill();
    throw new Error(`${error.message}${printed === '' ? '' : `; it printed: ${printed.trim()}`}`, {
      cause: error,
    });
  }
  return { ...httpContestant('postgrest', url, headers, child.pid), stop: () => child.kill() };
}

/** Returns null if POSTGREST_BIN is not set and PATH has no PostgREST. @throws Error if the program of POSTGREST_BIN does not run */
function commandOf(given) {
  const command = given || 'postgrest';
  const { error, status } = spawnSync(command, ['--version']);
  if (!error && status === 0) return command;
  if (!given) return null;
  throw new Error(
    `POSTGREST_BIN=${given} does not run: ${error?.message ?? `--version ended with ${status}`}`,
  );
}

/** The environment without PGRST settings. */
function inherited() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PGRST_')));
}

function configuration(database, secret, headers, port) {
  return {
    PGRST_DB_URI: database.owner_url,
    PGRST_DB_ANON_ROLE: 'anon',
    PGRST_DB_SCHEMAS: 'public',
    PGRST_DB_POOL: String(DATABASE_CONNECTIONS),
    PGRST_JWT_SECRET: keySet(secret, headers.authorization),
    PGRST_SERVER_HOST: '127.0.0.1',
    PGRST_SERVER_PORT: String(port),
    PGRST_LOG_LEVEL: 'crit',
  };
}

/**
 * The secret as a JWKS. Plinth's tokens have a `kid`, and from version 14 on PostgREST accepts such a token only if its own key
 * has the same `kid`. A plain secret has none, so every response would be 401.
 */
function keySet(secret, authorization) {
  const [head] = authorization.replace(/^Bearer /, '').split('.');
  const { kid } = JSON.parse(Buffer.from(head, 'base64url'));
  const key = { kty: 'oct', k: Buffer.from(secret).toString('base64url'), alg: 'HS256', use: 'sig', kid };
  return JSON.stringify({ keys: [key] });
}

/** PostgREST returns 503 until it has read the schema. */
async function untilItServes(child, url, headers) {
  let end = null;
  child.once('error', (error) => (end = error.message));
  child.once('exit', (code, signal) => (end = `it ended with ${code ?? signal}`));
  for (const deadline = Date.now() + START_LIMIT_MS; Date.now() < deadline;) {
    if (end !== null) throw new Error(end);
    const answer = await fetch(`${url}/items?limit=0`, { headers }).catch(() => null);
    await answer?.arrayBuffer();
    if (answer && answer.status !== 503) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`it did not serve within ${START_LIMIT_MS / 1000} s`);
}
