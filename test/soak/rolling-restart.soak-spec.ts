/**
 * Three processes behind a load balancer are restarted one after the other under load: no request fails. PLINTH_RATE sets
 * the requests a second. Needs a build (`npm run build`).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';
import { Balancer } from '../support/balancer';
import { until } from '../support/eventually';
import { HttpClient } from '../support/http-client';
import { PlinthProcess } from '../support/plinth-process';

const RATE = Number(process.env.PLINTH_RATE ?? 500);
/** Milliseconds between two bursts of requests. */
const TICK_MS = 20;
const RESTART_LIMIT_MS = 60_000;

let directory: string;
let postgres: EmbeddedPostgres;
let balancer: Balancer;
let start: (port?: number) => Promise<PlinthProcess>;
const processes: PlinthProcess[] = [];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-rolling-'));
  postgres = await EmbeddedPostgres.start({ dataDir: join(directory, 'pg'), settings: { fsync: 'off' } });
  const database = new URL(postgres.url);
  database.pathname = '/plinth';
  const env = {
    DATABASE_URL: database.href,
    MASTER_KEY: 'rolling-master-key-0123456789-0123456789',
    // More than the balancer takes to notice.
    SHUTDOWN_DELAY: '2',
    DATABASE_MAX_CONNECTIONS: '20',
  };
  start = (port) => PlinthProcess.start({ dataDir: directory, env, port });
  for (let n = 0; n < 3; n += 1) processes.push(await start());
  balancer = await Balancer.start(processes.map(({ baseUrl }) => baseUrl));
}, 180_000);
afterAll(async () => {
  await balancer.stop();
  await Promise.all(processes.map((one) => one.end('SIGKILL')));
  await postgres.stop();
  rmSync(directory, { recursive: true, force: true });
}, 60_000);

it(`restarts three processes at ${RATE} requests/s with no failed request`, async () => {
  const admin = (processes[0] as PlinthProcess).admin;
  const { body: project } = await admin.post('/admin/v1/projects', { name: 'Rolling', plan: 'enterprise' });
  const query = `create table notes (id bigint primary key); insert into notes values (0);
    create policy everybody on notes to anon using (true) with check (true)`;
  expect((await admin.post(`/admin/v1/projects/${project.id}/sql`, { query })).status).toBe(200);
  const client = new HttpClient(balancer.baseUrl, { apikey: project.anon_key }).unchecked();

  const counts = { sent: 0, answered: 0, slowest: 0 };
  const failures: string[] = [];
  const acknowledged: number[] = [];
  const send = async (n: number): Promise<void> => {
    const since = performance.now();
    try {
      const { status, text } =
        n % 5 === 0
          ? await client.post('/rest/v1/notes', { id: n })
          : await client.get('/rest/v1/notes?id=eq.0');
      if (status >= 300) failures.push(`${status} ${text}`);
      else if (n % 5 === 0) acknowledged.push(n);
    } catch (error) {
      failures.push(String((error as Error).cause ?? error));
    }
    counts.answered += 1;
    counts.slowest = Math.max(counts.slowest, performance.now() - since);
  };
  const began = performance.now();
  const load = setInterval(() => {
    // An open load: slow answers do not lower its rate.
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
  await until(() => counts.answered === counts.sent, RESTART_LIMIT_MS);
  const seconds = (performance.now() - began) / 1_000;
  process.stdout.write(
    `${JSON.stringify({ ...counts, perSecond: Math.round(counts.sent / seconds), failed: failures.length })}\n`,
  );
  expect(failures.slice(0, 5)).toEqual([]);
  const { body } = await admin.post(`/admin/v1/projects/${project.id}/sql`, {
    query: 'select count(*)::int as n from notes where id > 0',
  });
  expect(body.rows[0].n).toBeGreaterThanOrEqual(acknowledged.length);
}, 300_000);
