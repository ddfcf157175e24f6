/**
 * Three processes behind a load balancer are restarted one after the other under load, and no request fails.
 * PLINTH_RATE sets the requests a second. Needs a build (`npm run build`).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';
import { Balancer } from '../support/balancer';
import { until } from '../support/eventually';
import { PlinthProcess } from '../support/plinth-process';

const RATE = Number(process.env.PLINTH_RATE ?? 500);
/** Milliseconds between two bursts of requests. */
const TICK_MS = 20;
const RESTART_LIMIT_MS = 60_000;
/** Time limit in milliseconds for the last requests on a machine that cannot keep up with the rate. */
const DRAIN_LIMIT_MS = 30_000;

let directory: string;
let postgres: EmbeddedPostgres;
let balancer: Balancer;
let start: (port?: number) => Promise<PlinthProcess>;
const processes: PlinthProcess[] = [];
const agent = new Agent({ keepAlive: true, maxSockets: 200 });

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-rolling-'));
  postgres = await EmbeddedPostgres.start({ dataDir: join(directory, 'pg'), settings: { fsync: 'off' } });
  const database = new URL(postgres.url);
  database.pathname = '/plinth';
  const env = {
    DATABASE_URL: database.href,
    MASTER_KEY: 'rolling-master-key-0123456789-0123456789',
    // Longer than the balancer takes to notice.
    SHUTDOWN_DELAY: '2',
    DATABASE_MAX_CONNECTIONS: '20',
  };
  start = (port) => PlinthProcess.start({ dataDir: directory, env, port });
  for (let n = 0; n < 3; n += 1) processes.push(await start());
  balancer = await Balancer.start(processes.map(({ baseUrl }) => baseUrl));
}, 180_000);
afterAll(async () => {
  agent.destroy();
  await balancer.stop();
  await Promise.all(processes.map((one) => one.end('SIGKILL')));
  await postgres.stop();
  rmSync(directory, { recursive: true, force: true });
}, 60_000);

/** A read, or a write of that row. @returns status and body */
function call(apikey: string, row: object | null): Promise<[number, string]> {
  const [method, path] = row ? ['POST', '/rest/v1/notes'] : ['GET', '/rest/v1/notes?id=eq.0'];
  const headers = {
    apikey,
    authorization: `Bearer ${apikey}`,
    ...(row ? { 'content-type': 'application/json' } : {}),
  };
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, balancer.baseUrl), { agent, method, headers }, (answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
      answer.once('end', () => resolve([answer.statusCode ?? 0, text]));
      answer.once('error', reject);
    });
    sent.once('error', reject);
    sent.end(row ? JSON.stringify(row) : undefined);
  });
}

it(`restarts three processes at ${RATE} requests/s with no failed request`, async () => {
  const admin = (processes[0] as PlinthProcess).admin;
  const { body: project } = await admin.post('/admin/v1/projects', { name: 'Rolling', plan: 'enterprise' });
  const query = `create table notes (id bigint primary key); insert into notes values (0);
    create policy everybody on notes to anon using (true) with check (true)`;
  expect((await admin.post(`/admin/v1/projects/${project.id}/sql`, { query })).status).toBe(200);
  const counts = { sent: 0, answered: 0, slowest: 0 };
  const failures: string[] = [];
  const acknowledged: number[] = [];
  const send = async (n: number): Promise<void> => {
    const since = performance.now();
    try {
      const [status, text] = await call(project.anon_key, n % 5 === 0 ? { id: n } : null);
      if (status >= 300) failures.push(`${status} ${text}`);
      else if (n % 5 === 0) acknowledged.push(n);
    } catch (error) {
      failures.push(String(error));
    }
    counts.answered += 1;
    counts.slowest = Math.max(counts.slowest, performance.now() - since);
  };
  const began = performance.now();
  const load = setInterval(() => {
    // An open load, so slow responses do not lower its rate.
    const due = ((performance.now() - began) / 1_000) * RATE;
    while (counts.sent < due) void send((counts.sent += 1));
  }, TICK_MS);
  await sleep(3_000);
  for (const [index, old] of processes.entries()) {
    expect(await old.end('SIGTERM')).toBe(0);
    const renewed = await start(Number(new URL(old.baseUrl).port));
    processes[index] = renewed;
    await until(() => balancer.sendsTo(renewed.baseUrl), RESTART_LIMIT_MS);
    await sleep(1_000);
  }
  clearInterval(load);
  const seconds = (performance.now() - began) / 1_000;
  await until(() => counts.answered === counts.sent, DRAIN_LIMIT_MS).catch(() => undefined);
  process.stdout.write(
    `${JSON.stringify({ ...counts, perSecond: Math.round(counts.sent / seconds), failed: failures.length })}\n`,
  );
  expect(failures.slice(0, 5)).toEqual([]);
  expect(counts.answered).toBe(counts.sent);
  const { body } = await admin.post(`/admin/v1/projects/${project.id}/sql`, {
    query: 'select count(*)::int as n from notes where id > 0',
  });
  expect(body.rows[0].n).toBeGreaterThanOrEqual(acknowledged.length);
}, 300_000);
