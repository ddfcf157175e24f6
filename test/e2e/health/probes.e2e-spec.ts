/** Probes and metrics (DECISIONS.md 7). */
import { asSuperuser } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';

let plinth: TestPlinth;
beforeAll(async () => (plinth = await TestPlinth.start()));
afterAll(() => plinth.stop());

/** The value of a sample, by its name and labels as Prometheus writes them. */
function sample(text: string, name: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

const requests = (area: string, method: string, status: number): string =>
  `plinth_http_requests_total{area="${area}",method="${method}",status="${status}"}`;

describe('GET /health/live', () => {
  it('answers 200 without a credential', async () => {
    const answer = await plinth.http.get('/health/live');
    expect([answer.status, answer.body]).toEqual([200, { status: 'live' }]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });
});

describe('GET /health/ready', () => {
  it('answers 200 and names what it asked', async () => {
    const answer = await plinth.http.get('/health/ready');
    expect([answer.status, answer.body]).toEqual([
      200,
      { status: 'ready', checks: { platform_database: { status: 'up' }, storage: { status: 'up' } } },
    ]);
  });

  it('answers 503 and says what is down, while the process stays live', async () => {
    const lonely = await TestPlinth.start();
    try {
      // Only the connections that requests use: nothing else is to notice.
      await asSuperuser('postgres', async (client) => {
        await client.query(`alter database ${lonely.platformDatabase} allow_connections false`);
        await client.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = $1 and application_name = 'plinth-platform'`,
          [lonely.platformDatabase],
        );
      });
      const answer = await lonely.http.get('/health/ready');
      expect(answer.status).toBe(503);
      expect(answer.headers.get('retry-after')).toBe('1');
      expect(answer.body.error).toMatchObject({
        code: 'not_ready',
        status: 503,
        checks: { platform_database: { status: 'down' } },
      });
      expect(answer.body.error.message).toContain('platform_database');
      expect((await lonely.http.get('/health/live')).status).toBe(200);
    } finally {
      await lonely.stop();
    }
  });
});

describe('GET /metrics', () => {
  it('counts requests by area, method and status, refused ones included', async () => {
    const before = await plinth.http.get('/metrics');
    expect(before.headers.get('content-type')).toContain('text/plain');
    await plinth.http.get('/admin/v1/projects');
    await plinth.admin.get('/admin/v1/projects');
    const after = (await plinth.http.get('/metrics')).text;
    for (const status of [401, 200]) {
      const name = requests('admin', 'GET', status);
      expect(sample(after, name)).toBe((sample(before.text, name) ?? 0) + 1);
    }
    expect(
      sample(after, 'plinth_http_request_duration_seconds_count{area="admin",method="GET"}'),
    ).toBeGreaterThan(1);
  });

  it('has no time series for what a client makes up', async () => {
    for (let n = 0; n < 20; n += 1) await plinth.http.get(`/p/slug-${n}/storage/buckets/${n}`);
    const { text } = await plinth.http.get('/metrics');
    expect(text).not.toContain('slug-');
    expect(
      text.split('\n').filter((line) => line.startsWith('plinth_http_requests_total{')).length,
    ).toBeLessThan(20);
  });

  it('tells of pools, event loop and process', async () => {
    await plinth.createProject();
    const { text } = await plinth.http.get('/metrics');
    for (const name of [
      'plinth_database_connections',
      'plinth_database_streaming',
      'plinth_database_waiting',
      'plinth_database_pools',
      'plinth_database_round_trips_total',
      'plinth_body_reserved_bytes',
      'plinth_body_waiting',
    ]) {
      expect(sample(text, name)).toBeGreaterThanOrEqual(0);
    }
    expect(sample(text, 'nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0);
    expect(sample(text, 'process_resident_memory_bytes')).toBeGreaterThan(1e6);
  });

  it('asks for METRICS_TOKEN where it is set', async () => {
    const guarded = await TestPlinth.start({ env: { METRICS_TOKEN: 'a-token-for-the-scraper' } });
    try {
      expect((await guarded.http.get('/metrics')).status).toBe(401);
      const wrong = guarded.http.with({ authorization: 'Bearer another-token' });
      expect((await wrong.get('/metrics')).status).toBe(401);
      const scraper = guarded.http.with({ authorization: 'Bearer a-token-for-the-scraper' });
      expect((await scraper.get('/metrics')).status).toBe(200);
    } finally {
      await guarded.stop();
    }
  });
});
