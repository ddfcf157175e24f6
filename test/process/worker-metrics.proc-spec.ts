/** GET /metrics with WORKERS: the aggregate of all processes, whichever one is scraped. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually';
import { freePort, PlinthProcess } from '../support/plinth-process';
import { hasRedis, TestRedis } from '../support/redis-server';

const REQUESTS = 40;
const SCRAPES = 8;

let directory: string;
let redis: TestRedis;
let plinth: PlinthProcess;
let metricsUrl: string;

beforeAll(async () => {
  if (!hasRedis) return;
  directory = mkdtempSync(join(tmpdir(), 'plinth-metrics-'));
  redis = await TestRedis.start();
  const port = await freePort();
  metricsUrl = `http://127.0.0.1:${port}/metrics`;
  const env = {
    WORKERS: '2',
    REDIS_URL: redis.url,
    METRICS_PORT: String(port),
    WAL_ARCHIVE_DIR: join(directory, 'archive'),
  };
  plinth = await PlinthProcess.start({ dataDir: directory, env });
}, 90_000);
afterAll(async () => {
  await plinth?.end('SIGTERM');
  await redis?.stop();
  if (directory) rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
});

/** A connection for each scrape, as a worker keeps those that it accepted. */
const scrape = async (): Promise<string> => {
  const response = await fetch(metricsUrl, { headers: { connection: 'close' } });
  expect(response.status).toBe(200);
  return response.text();
};
const sumOf = (text: string, series: RegExp): number =>
  text
    .split('\n')
    .filter((line) => series.test(line))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);

const ADMIN = /^plinth_http_requests_total\{.*area="admin".*status="200"/;
const workers = (): number[] =>
  readdirSync('/proc')
    .filter((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const parent = Number(stat.slice(stat.lastIndexOf(')')).split(' ')[2]);
        return (
          parent === plinth.child.pid && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('main.js')
        );
      } catch {
        return false;
      }
    })
    .map(Number);

const withRedis = hasRedis ? it : it.skip;

withRedis(
  'returns the sum of all processes for every scrape',
  async () => {
    const before = sumOf(await scrape(), ADMIN);
    await Promise.all(
      Array.from({ length: REQUESTS }, () =>
        plinth.admin.with({ connection: 'close' }).get('/admin/v1/projects'),
      ),
    );
    const counts: number[] = [];
    for (let n = 0; n < SCRAPES; n += 1) counts.push(sumOf(await scrape(), ADMIN) - before);
    expect(counts).toEqual(Array.from({ length: SCRAPES }, () => REQUESTS));
    const text = await scrape();
    // This metric is the worst value of all processes, not the sum.
    expect(sumOf(text, /^plinth_check_up\{check="redis"\}/)).toBe(1);
    expect(sumOf(text, /^plinth_memory_used_ratio /)).toBeLessThan(1);
    // This metric comes from the first process alone.
    expect(sumOf(text, /^plinth_worker_restarts_total/)).toBe(0);
    await eventually(async () =>
      expect(sumOf(await scrape(), /^plinth_wal_archive_age_seconds /)).toBeLessThan(10),
    );
    expect(sumOf(text, /^plinth_wal_archive_gaps /)).toBe(0);
  },
  60_000,
);

withRedis(
  'keeps the counts of a worker that was killed, and counts its restart',
  async () => {
    const before = sumOf(await scrape(), ADMIN);
    process.kill(workers()[0] as number, 'SIGKILL');
    await eventually(async () => {
      const text = await scrape();
      expect(sumOf(text, /^plinth_worker_restarts_total\{reason="ended"\}/)).toBe(1);
      expect(sumOf(text, ADMIN)).toBe(before);
      expect(workers()).toHaveLength(2);
    }, 30_000);
  },
  60_000,
);
