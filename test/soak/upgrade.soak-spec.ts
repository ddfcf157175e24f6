/** Upgrades: of many projects while the process is killed again and again, and of processes in turn, both under load. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';
import build from '../process/support/build';
import { PlinthProcess } from '../support/plinth-process';
import { hasRedis, TestRedis } from '../support/redis-server';
import { buildCommit, buildLaterRelease, hasCommit } from '../support/releases';
import { createLoadedProject, SteadyLoad } from '../support/steady-load';
import { UpgradeKills } from '../support/kills/upgrade-kills';

const PROJECTS = Number(process.env.PLINTH_UPGRADE_PROJECTS ?? 120);
const PROJECT_KILLS = Number(process.env.PLINTH_KILLS ?? 24);
const PLATFORM_KILLS = Math.ceil(PROJECT_KILLS / 3);
const TEMPLATE_KILLS = Math.ceil(PROJECT_KILLS / 8);
const KILLS = PLATFORM_KILLS + TEMPLATE_KILLS + PROJECT_KILLS;
/** Number of databases that are migrated concurrently (docs/reference/administration.md). */
const CONCURRENCY = 4;
/** A version from which an upgrade without a failed request must be possible. */
const OLDER = '0ae88cd';

let directory: string;
let postgres: EmbeddedPostgres;
let later: string;
const running: PlinthProcess[] = [];

beforeAll(async () => {
  await build();
  directory = mkdtempSync(join(tmpdir(), 'plinth-upgrade-'));
  later = buildLaterRelease(join(directory, 'later'));
  postgres = await EmbeddedPostgres.start({ dataDir: join(directory, 'pg'), settings: { fsync: 'off' } });
}, 300_000);
afterAll(async () => {
  await Promise.all(running.map((process) => process.end('SIGKILL')));
  await postgres.stop();
  rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}, 60_000);

const databaseUrl = (database: string): string => {
  const url = new URL(postgres.url);
  url.pathname = `/${database}`;
  return url.href;
};

const environment = (database: string): Record<string, string> => ({
  DATABASE_URL: databaseUrl(database),
  MASTER_KEY: 'upgrade-master-key-0123456789-0123456789',
});

async function start(
  database: string,
  options: { build?: string; env?: object } = {},
): Promise<PlinthProcess> {
  const env = { ...environment(database), ...options.env };
  const process = await PlinthProcess.start({ dataDir: directory, env, build: options.build });
  running.push(process);
  return process;
}

it(`completes an upgrade of ${PROJECTS} projects that is killed ${KILLS} times, next to an older process`, async () => {
  const kills = new UpgradeKills({
    directory,
    databaseUrl,
    environment: { ...environment('many'), AUTH_REQUESTS_PER_MINUTE: '1000000' },
    later,
    projects: PROJECTS,
  });
  try {
    await kills.setUp();
    await kills.killIn('platform', PLATFORM_KILLS);
    await kills.killIn('template', TEMPLATE_KILLS);
    await kills.killIn('projects', PROJECT_KILLS);
    process.stdout.write(`${JSON.stringify(kills.counts)}\n`);
    expect(kills.counts.migrated).toBeLessThan(kills.total);
    expect(kills.counts.most).toBeLessThanOrEqual(CONCURRENCY);
    await kills.assertCompleted();
  } finally {
    await kills.tearDown();
  }
}, 1_200_000);

const canUpgrade = hasRedis && hasCommit(OLDER);

(canUpgrade ? it : it.skip)(
  `upgrades from ${OLDER} next to it, and restarts in turn, under load without a failed request (needs Redis and the history of the repository)`,
  async () => {
    const redis = await TestRedis.start();
    try {
      const commit = buildCommit(OLDER, join(directory, 'older'));
      const env = {
        REDIS_URL: redis.url,
        STORAGE_DISK_DIR: join(directory, 'files'),
        STORAGE_URL: pathToFileURL(join(directory, 'files')).href,
        AUTH_REQUESTS_PER_MINUTE: '1000000',
      };
      const older = await start('rolling', { build: commit, env });
      // Not compared with the OpenAPI document, because the process has another version.
      const project = await createLoadedProject(older.admin.unchecked(), 'Rolling');
      const load = new SteadyLoad(project, [older]);
      load.start(4);
      await load.requests(100);
      const newer = await start('rolling', { build: later, env });
      load.targets = [older, newer];
      await load.requests(200);
      // Sends no new requests and then the signal, as a load balancer does.
      load.targets = [newer];
      await older.end('SIGTERM');
      await load.requests(100);
      const next = await start('rolling', { build: later, env });
      load.targets = [newer, next];
      await load.requests(100);
      load.targets = [next];
      await newer.end('SIGTERM');
      await load.requests(100);
      await load.stop();
      expect(load.failed).toEqual([]);
      const { body } = await next.admin.unchecked().post(`/admin/v1/projects/${project.id}/sql`, {
        query: 'select count(*)::int as count, (select max(later) from auth.users) as later from notes',
      });
      expect(body.rows).toEqual([{ count: load.inserted, later: 7 }]);
    } finally {
      await redis.stop();
    }
  },
  600_000,
);

/** The last version before the migrations were replaced (docs/guides/upgrades.md). */
const UNKNOWN = '56407cc9';

(hasCommit(UNKNOWN) ? it : it.skip)(
  `refuses data of ${UNKNOWN}, which that version then serves as before (needs the history of the repository)`,
  async () => {
    const dataDir = join(directory, 'unknown-data');
    mkdirSync(dataDir);
    const options = { dataDir, build: buildCommit(UNKNOWN, join(directory, 'unknown')), fromScratch: true };
    const serve = async (): Promise<PlinthProcess> => {
      const started = await PlinthProcess.start(options);
      running.push(started);
      return started;
    };
    const older = await serve();
    const made = await older.admin.unchecked().post('/admin/v1/projects', { name: 'Kept' });
    expect(made.status).toBe(201);
    await older.end('SIGTERM');
    const refused = PlinthProcess.start({ dataDir, fromScratch: true });
    await expect(refused).rejects.toThrow('a development version from before 0.1.0 made or migrated');
    const again = await serve();
    const { anon_key: apikey } = made.body;
    const headers = { apikey, authorization: `Bearer ${apikey}` };
    const answer = await again.admin.unchecked().get('/rest/v1/absent', { headers });
    // If the projects could not log in, the server would answer 403.
    expect([answer.status, answer.body.code]).toEqual([404, 'PL205']);
    await again.end('SIGTERM');
  },
  300_000,
);
