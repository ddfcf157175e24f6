/** Probes and metrics (DECISIONS.md 7). */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../support/eventually';
import { HttpClient } from '../../support/http-client';
import { asSuperuser } from '../../support/owner-connection';
import { TestPlinth } from '../../support/plinth';
import { freePort } from '../../support/plinth-process';
import { headOf, rawClient } from '../../support/slow-clients';

/** Metrics that exist only with WORKERS or WAL_ARCHIVE_DIR, which workers.proc-spec.ts tests. */
const OF_SETTINGS = /^plinth_(worker_restarts_total|wal_archive_|file_archive_)/;
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
  it('answers 200 and names the checked components', async () => {
    const answer = await plinth.http.get('/health/ready');
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        status: 'ready',
        checks: {
          platform_database: { status: 'up' },
          database_disk: { status: 'up' },
          storage: { status: 'up' },
        },
      },
    ]);
  });

  it('answers 503 and names the failed component, while the process stays live', async () => {
    const lonely = await TestPlinth.start();
    try {
      // Cuts only the connections used by requests.
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
  it('counts requests by area, method and status, including refused requests', async () => {
    const before = await plinth.admin.get('/metrics');
    expect(before.headers.get('content-type')).toContain('text/plain');
    await plinth.http.get('/admin/v1/projects');
    await plinth.admin.get('/admin/v1/projects');
    const after = (await plinth.admin.get('/metrics')).text;
    for (const status of [401, 200]) {
      const name = requests('admin', 'GET', status);
      expect(sample(after, name)).toBe((sample(before.text, name) ?? 0) + 1);
    }
    expect(
      sample(after, 'plinth_http_request_duration_seconds_count{area="admin",method="GET"}'),
    ).toBeGreaterThan(1);
  });

  it.each(['100-continue', 'unknown'])('counts requests with Expect: %s', async (Expect) => {
    const name = requests('rest', 'GET', 401);
    const count = async (): Promise<number> => sample((await plinth.admin.get('/metrics')).text, name) ?? 0;
    const before = await count();
    await rawClient(plinth.baseUrl, headOf('GET /rest/v1/t', { Expect })).answered;
    await eventually(async () => expect(await count()).toBe(before + 1));
  });

  it('has no time series for names invented by a client', async () => {
    for (let n = 0; n < 20; n += 1) await plinth.http.get(`/p/slug-${n}/storage/buckets/${n}`);
    const { text } = await plinth.admin.get('/metrics');
    expect(text).not.toContain('slug-');
    expect(
      text.split('\n').filter((line) => line.startsWith('plinth_http_requests_total{')).length,
    ).toBeLessThan(20);
  });

  it.each(['grafana-dashboard.json', 'alerts.yml'])(
    'has every metric and label that %s names',
    async (file) => {
      await plinth.createProject();
      const { text } = await plinth.admin.get('/metrics');
      const types = new Map(
        [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', type]) => [name, type]),
      );
      const named = readFileSync(join(__dirname, '../../../docker/monitoring', file), 'utf8').matchAll(
        /\b((?:plinth|nodejs|process)_[a-z0-9_]+)(?:\{([a-z_]+)\W)?/g,
      );
      const wrong = new Set<string>();
      let count = 0;
      for (const [, name = '', label] of named) {
        count += 1;
        const base =
          types.get(name.replace(/_bucket$/, '')) === 'histogram' ? name.replace(/_bucket$/, '') : name;
        const samples = text.split('\n').filter((line) => line.startsWith(`${name}{`));
        if (!types.has(base) && !OF_SETTINGS.test(name)) wrong.add(name);
        // A counter without samples has no labels yet.
        if (label && samples.length > 0 && !samples.some((line) => line.includes(`${label}="`)))
          wrong.add(`${name}{${label}}`);
      }
      expect(count).toBeGreaterThan(5);
      expect([...wrong]).toEqual([]);
    },
  );

  it('reports pools, event loop and process', async () => {
    await plinth.createProject();
    const { text } = await plinth.admin.get('/metrics');
    for (const name of [
      'plinth_database_connections',
      'plinth_database_streaming',
      'plinth_database_waiting',
      'plinth_database_pools',
      'plinth_database_round_trips_total',
      'plinth_body_reserved_bytes',
      'plinth_body_waiting',
      'plinth_result_held_bytes',
    ]) {
      expect(sample(text, name)).toBeGreaterThanOrEqual(0);
    }
    expect(sample(text, 'nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0);
    expect(sample(text, 'process_resident_memory_bytes')).toBeGreaterThan(1e6);
  });

  it('requires the platform admin key, or METRICS_TOKEN if it is set', async () => {
    const METRICS_TOKEN = 'a$token!for$the$scraper';
    const guarded = await TestPlinth.start({ env: { METRICS_TOKEN } });
    try {
      const as = (authorization: string) => guarded.http.with({ authorization }).get('/metrics');
      expect((await guarded.http.get('/metrics')).status).toBe(401);
      for (const wrong of [
        'Bearer another-token',
        'Bearer',
        `Bearer ${METRICS_TOKEN} x`,
        `Basic ${METRICS_TOKEN}`,
      ])
        expect([wrong, (await as(wrong)).status]).toEqual([wrong, 401]);
      expect((await as(`Bearer ${METRICS_TOKEN}`)).status).toBe(200);
      expect((await guarded.admin.get('/metrics')).status).toBe(200);
      const scraper = guarded.http.with({ authorization: `Bearer ${METRICS_TOKEN}` });
      expect((await scraper.get('/admin/v1/projects')).status).toBe(401);
    } finally {
      await guarded.stop();
    }
  });

  it('answers 401 without a credential if no token is set', async () => {
    const answer = await plinth.http.get('/metrics');
    expect([answer.status, answer.body.error.code]).toEqual([401, 'unauthorized']);
    expect(answer.text).not.toContain('plinth_');
  });
});

describe('METRICS_PORT', () => {
  let second: HttpClient;
  let withPort: TestPlinth;
  let port: number;
  beforeAll(async () => {
    port = await freePort();
    withPort = await TestPlinth.start({ env: { METRICS_PORT: String(port) } });
    // The port serves only the probes and the metrics, so the document does not describe it.
    second = new HttpClient(`http://127.0.0.1:${port}`).unchecked();
  });
  afterAll(() => withPort.stop());

  it('serves metrics and probes without a credential', async () => {
    const metrics = await second.get('/metrics');
    expect([metrics.status, metrics.headers.get('content-type')]).toEqual([
      200,
      expect.stringMatching('text/plain'),
    ]);
    expect(sample(metrics.text, 'process_resident_memory_bytes')).toBeGreaterThan(1e6);
    expect((await second.get('/health/live')).body).toEqual({ status: 'live' });
    expect((await second.get('/health/ready?a=b')).status).toBe(200);
    expect((await second.post('/metrics', {})).status).toBe(405);
  });

  it('does not change PORT', async () => {
    expect((await withPort.http.get('/metrics')).status).toBe(401);
    expect((await withPort.admin.get('/metrics')).status).toBe(200);
  });

  it('serves nothing else, with any credentials', async () => {
    const project = await withPort.createProject();
    const addresses = [
      '/',
      '/docs',
      '/tour',
      '/openapi.json',
      '/admin/v1/projects',
      '/rest/v1/',
      '//metrics',
      '/metrics/',
    ];
    for (const client of [withPort.admin, project.service]) {
      for (const address of [...addresses, `${project.storage}/buckets`, `${project.auth}/settings`]) {
        const answer = await client.at(second.baseUrl).unchecked().get(address);
        expect([address, answer.status, answer.body.error.code]).toEqual([address, 404, 'not_found']);
      }
    }
  });

  it('is released when Plinth ends', async () => {
    const env = { METRICS_PORT: String(await freePort()) };
    for (let n = 0; n < 2; n += 1) await (await TestPlinth.start({ env })).stop();
  });
});

it('shows the checks of the readiness as metrics, which the alert PlinthCheckDown reads', async () => {
  const other = await TestPlinth.start();
  try {
    const checks = async (): Promise<string[]> =>
      (await other.admin.get('/metrics')).text
        .split('\n')
        .filter((line) => line.startsWith('plinth_check_up{'));
    expect(await checks()).toEqual(
      expect.arrayContaining([
        'plinth_check_up{check="storage"} 1',
        'plinth_check_up{check="platform_database"} 1',
      ]),
    );
    rmSync(join(other.dataDir, 'files'), { recursive: true });
    expect(await checks()).toContain('plinth_check_up{check="storage"} 0');
  } finally {
    await other.stop();
  }
});
