/**
 * The primary fails under load and its standby is promoted; later, other programs use all connections. The platform
 * database is on the same servers.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { withHostList } from '../../src/pg-pipeline';
import { listen } from '../support/change-listener';
import { eventually } from '../support/eventually';
import type { HttpAnswer } from '../support/http-client';
import { NumberLoad } from '../support/number-load';
import { TestPlinth } from '../support/plinth';
import { hasPostgres, PostgresServer } from '../support/postgres-server';
import type { TestProject, TestUser } from '../support/test-project';

/** Requests of the load before the fault, and after the recovery. */
const SOME_REQUESTS = 100;
/** Recovery takes less than a second; the limit allows for slower machines. */
const SERVES_AGAIN_MS = 20_000;
const MAX_CONNECTIONS = 60;

(hasPostgres ? describe : describe.skip)('a PostgreSQL server with a standby', () => {
  let directory: string;
  let primary: PostgresServer;
  let standby: PostgresServer;
  let plinth: TestPlinth;
  let other: TestPlinth;
  let project: TestProject;
  let cold: TestProject;
  let user: TestUser;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'plinth-failover-'));
    chmodSync(directory, 0o755);
    primary = await PostgresServer.primary(
      directory,
      `max_connections = ${MAX_CONNECTIONS}\nwal_level = logical`,
    );
    standby = await primary.addStandby(directory, 'standby');
    await primary.query(`alter system set synchronous_standby_names = 'standby'`);
    await primary.query('select pg_reload_conf()');
    // The standby is listed first, so Plinth must find the primary by asking.
    const databaseUrl = withHostList(PostgresServer.urlOf([standby, primary], 'postgres'));
    plinth = await TestPlinth.start({ databaseUrl });
    other = await TestPlinth.start({ databaseUrl, replicaOf: plinth });
    project = await plinth.createProject({ plan: 'enterprise' });
    await project.sql(
      'create table numbers (n int primary key); create publication supabase_realtime for table numbers',
    );
    cold = await plinth.createProject();
    user = await project.signUp();
  }, 120_000);
  afterAll(async () => {
    await other?.stop();
    await plinth?.stop();
    await Promise.all([primary?.stop(), standby?.stop()]);
    rmSync(directory, { recursive: true, force: true });
  }, 60_000);

  /** A request of each area. */
  const areas = (): Record<string, () => Promise<HttpAnswer>> => ({
    rest: () => project.service.get('/rest/v1/numbers?limit=1'),
    auth: () => project.anon.post(`${project.auth}/login`, { email: user.email, password: user.password }),
    storage: () => project.service.get(`${project.storage}/buckets`),
    admin: () => plinth.admin.get('/admin/v1/projects'),
  });
  const maxRows = (max_rows: number | null): Promise<HttpAnswer> =>
    plinth.admin.patch(`/admin/v1/projects/${project.id}`, { settings: { max_rows } });

  it('answers 503 with Retry-After until the standby is promoted, serves everything then, and has lost no acknowledged write', async () => {
    const load = new NumberLoad(project.service);
    const changes = await listen(project.service, '/rest/v1/numbers?limit=0');
    await eventually(async () => expect(load.served).toBeGreaterThan(SOME_REQUESTS), SERVES_AGAIN_MS);
    await eventually(async () => expect(changes.of('INSERT').length).toBeGreaterThan(0), SERVES_AGAIN_MS);
    const before = performance.now();
    await primary.kill();
    await eventually(async () => expect(load.unavailable).toBeGreaterThan(0), SERVES_AGAIN_MS);
    await standby.promote();
    const promoted = performance.now();
    const times: Record<string, number> = {};
    for (const [area, ask] of Object.entries(areas())) {
      await eventually(async () => {
        const { status, text } = await ask();
        expect({ area, status, text }).toMatchObject({ status: 200 });
      }, SERVES_AGAIN_MS);
      times[area] = Math.round(performance.now() - promoted);
    }
    const served = load.served;
    await eventually(
      async () => expect(load.served).toBeGreaterThan(served + SOME_REQUESTS),
      SERVES_AGAIN_MS,
    );
    // The standby has no slot of the feed, so changes may be missing, and the stream continues.
    await eventually(
      async () =>
        expect(changes.of('INSERT').at(-1).record.n).toBeGreaterThan(load.acknowledged.at(-100) ?? 0),
      SERVES_AGAIN_MS,
    );
    expect(changes.of('system')).toMatchObject([{ status: 'error', reason: 'gap' }]);
    await changes.close();
    await load.stop();
    if (process.env.PLINTH_SHOW_TIMES) {
      const { unavailable, served: all } = load;
      const killedToPromoted = Math.round(promoted - before);
      process.stdout.write(
        `${JSON.stringify({ killedToPromoted, promotedToServed: times, unavailable, served: all })}\n`,
      );
    }
    expect(load.wrong).toEqual([]);
    expect(load.lostFrom(await project.sql('select n from numbers'))).toEqual([]);
  }, 90_000);

  it('hears notifications of the new primary: a change in one process reaches the other', async () => {
    const at = (): Promise<HttpAnswer> => project.service.at(other.baseUrl).get('/rest/v1/numbers');
    // A lost notification would only be made up for after a minute.
    await eventually(async () => expect((await at()).status).toBe(200));
    await eventually(async () => {
      expect((await maxRows(1)).status).toBe(200);
      expect((await at()).body).toHaveLength(1);
    });
    await maxRows(null);
    await eventually(async () => expect((await at()).body.length).toBeGreaterThan(1));
  });

  it('answers 503 with Retry-After while others hold all connections, and recovers without a restart', async () => {
    const hogs: Client[] = [];
    const takeAll = async (): Promise<void> => {
      for (let n = 0; n <= MAX_CONNECTIONS; n += 1) {
        const hog = new Client({ connectionString: standby.url });
        hog.on('error', () => undefined);
        const isRefused = await hog.connect().then(
          () => false,
          () => true,
        );
        if (isRefused) return;
        hogs.push(hog);
      }
    };
    try {
      // Connections that Plinth closes during this time become free.
      await eventually(async () => {
        await takeAll();
        const { status, headers } = await cold.service.get('/rest/v1/nothing');
        expect({ status, retryAfter: Number(headers.get('retry-after')) > 0 }).toEqual({
          status: 503,
          retryAfter: true,
        });
      }, SERVES_AGAIN_MS);
    } finally {
      await Promise.all(hogs.map((hog) => hog.end()));
    }
    await eventually(
      async () => expect((await cold.service.get('/rest/v1/nothing')).status).toBe(404),
      SERVES_AGAIN_MS,
    );
    for (const ask of Object.values(areas()))
      await eventually(async () => expect((await ask()).status).toBe(200), SERVES_AGAIN_MS);
  }, 60_000);
});
