/** Upgrades: of many projects while the process is killed again and again, and beside an older process under load. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';
import build from '../process/support/build';
import { Program, until } from '../process/support/processes';
import { HttpAnswer, HttpClient } from '../support/http-client';
import { freePort, PlinthProcess } from '../support/plinth-process';
import { hasRedis, TestRedis } from '../support/redis-server';
import { buildCommit, buildLaterRelease, hasCommit } from '../support/releases';
import { upload } from '../support/uploads';

const PROJECTS = Number(process.env.PLINTH_UPGRADE_PROJECTS ?? 120);
const KILLS = 5;
/** Databases that are migrated at a time (docs/administration.md). */
const AT_ONCE = 4;
/** The version from which an upgrade without a failed request was asked for. */
const OLDER = '0ae88cd';
const CREDENTIALS = { email: 'ada@example.com', password: 'correct horse' };

interface Project {
  readonly id: string;
  readonly slug: string;
  readonly anon_key: string;
  readonly service_role_key: string;
}

let directory: string;
let postgres: EmbeddedPostgres;
let later: string;
const running: PlinthProcess[] = [];

beforeAll(async () => {
  build();
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

async function query<T extends object>(database: string, sql: string): Promise<T[]> {
  const client = new Client({ connectionString: databaseUrl(database) });
  await client.connect();
  try {
    return (await client.query<T>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Not compared with the OpenAPI document, which is that of another version. */
const adminOf = (plinth: PlinthProcess): HttpClient => plinth.admin.unchecked();

async function createProject(plinth: PlinthProcess, name: string): Promise<Project> {
  const { status, body } = await adminOf(plinth).post('/admin/v1/projects', { name, plan: 'enterprise' });
  expect(status).toBe(201);
  return body;
}

it(`completes an upgrade of ${PROJECTS} projects that is killed ${KILLS} times, ${AT_ONCE} databases at a time`, async () => {
  const older = await start('many');
  for (let n = 0; n < PROJECTS; n += 4) {
    const names = Array.from({ length: Math.min(4, PROJECTS - n) }, (_, of) => `Project ${n + of}`);
    await Promise.all(names.map((name) => createProject(older, name)));
  }
  const witness = await createProject(older, 'Witness');
  const visitor = (plinth: PlinthProcess): HttpClient =>
    new HttpClient(plinth.baseUrl, { apikey: witness.anon_key }, false);
  expect((await visitor(older).post(`/v1/auth/${witness.id}/signup`, CREDENTIALS)).status).toBe(201);
  await older.end('SIGTERM');

  const databases = await query<{ name: string }>('many', 'select database_name as name from projects');
  // The witness too, and the demo.
  const total = databases.length;
  expect(total).toBeGreaterThan(PROJECTS);
  const client = new Client({ connectionString: databaseUrl('many') });
  await client.connect();
  let most = 0;
  const countMigrated = async (): Promise<number> => {
    const { rows } = await client.query<{ done: number; at_once: number }>(
      `select (select count(*)::int from projects where schema_version like '%_9990000000000') as done,
         (select count(*)::int from pg_stat_activity where application_name = 'plinth-migrations') as at_once`,
    );
    most = Math.max(most, rows[0]?.at_once ?? 0);
    return rows[0]?.done ?? 0;
  };
  try {
    let before = 0;
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const env = {
        PATH: process.env.PATH,
        ...environment('many'),
        DATA_DIR: join(directory, 'data'),
        PLATFORM_ADMIN_KEY: 'process-platform-admin-key-0123',
        PORT: String(await freePort()),
        HOST: '127.0.0.1',
        LOG_LEVEL: 'error',
      };
      const upgrading = Program.start(process.execPath, [join(later, 'src/main.js')], {
        env,
        cwd: directory,
      });
      const wanted = Math.max(before + 1, Math.floor((total * kill) / (KILLS + 2)));
      await until(
        async () => (await countMigrated()) >= wanted,
        120_000,
        () => upgrading.output,
      );
      await upgrading.end('SIGKILL');
      const migrated = await countMigrated();
      expect([migrated > before, migrated < total]).toEqual([true, true]);
      before = migrated;
      // Later, sessions of the killed process may not have ended yet.
      if (kill === 1) expect(most).toBeLessThanOrEqual(AT_ONCE);
    }
    const upgraded = await start('many', { build: later });
    expect(await countMigrated()).toBe(total);
    const without: string[] = [];
    for (const { name } of databases) {
      const found = await query(
        name,
        `select from pg_attribute where attrelid = 'auth.users'::regclass and attname = 'later'`,
      );
      if (found.length !== 1) without.push(name);
    }
    expect(without).toEqual([]);
    expect((await visitor(upgraded).post(`/v1/auth/${witness.id}/login`, CREDENTIALS)).status).toBe(200);
    await upgraded.end('SIGTERM');
  } finally {
    await client.end();
  }
}, 900_000);

/** What a client does with a project, over and over, on whichever process it is sent to. */
class Load {
  /** Sent requests, and those that did not succeed. */
  sent = 0;
  readonly failed: string[] = [];
  private isStopped = false;
  private readonly clients: Promise<void>[] = [];

  constructor(
    private readonly project: Project,
    public targets: readonly PlinthProcess[],
  ) {}

  start(clients: number): void {
    for (let n = 0; n < clients; n += 1) this.clients.push(this.run(n));
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.clients);
  }

  /** Resolves when every client has completed a round that began after this call. */
  async rounds(count: number): Promise<void> {
    const wanted = this.sent + count;
    await until(() => this.sent >= wanted || this.failed.length > 0, 120_000);
  }

  private async run(n: number): Promise<void> {
    const email = `user-${n}@example.com`;
    const auth = `/v1/auth/${this.project.id}`;
    const storage = `/p/${this.project.slug}/storage`;
    const signUp = { email, password: CREDENTIALS.password };
    let token = '';
    await this.ask('sign-up', async (http) => http.post(`${auth}/signup`, signUp));
    for (let round = 0; !this.isStopped; round += 1) {
      await this.ask('sign-in', async (http) => {
        const answer = await http.post(`${auth}/login`, signUp);
        token = answer.body?.session?.access_token ?? token;
        return answer;
      });
      const own = { authorization: `Bearer ${token}` };
      await this.ask('user', (http) => http.get(`${auth}/user`, { headers: own }));
      await this.ask('rows', (http) => http.get('/rest/v1/notes?limit=10', { headers: own }));
      await this.ask('insert', (http) => http.post('/rest/v1/notes', { n: round }, { headers: own }));
      const key = { authorization: `Bearer ${this.project.service_role_key}` };
      await this.ask('upload', (http) => {
        const owner = new HttpClient(http.baseUrl, { apikey: this.project.service_role_key, ...key }, false);
        return upload(owner, storage, 'box', `content ${n} ${round}`, { name: `${n}-${round}.txt` });
      });
      await this.ask('files', (http) => http.get(`${storage}/buckets`, { headers: own }));
    }
  }

  private async ask(what: string, send: (http: HttpClient) => Promise<HttpAnswer>): Promise<void> {
    const target = this.targets[this.sent % this.targets.length] as PlinthProcess;
    this.sent += 1;
    try {
      const { status, text } = await send(
        new HttpClient(target.baseUrl, { apikey: this.project.anon_key }, false),
      );
      if (status >= 300) this.failed.push(`${what}: ${status} ${text}`);
    } catch (error) {
      this.failed.push(`${what}: ${String(error)}`);
    }
  }
}

const canUpgrade = hasRedis && hasCommit(OLDER);

(canUpgrade ? it : it.skip)(
  `upgrades from ${OLDER} beside it, under load, without a failed request (needs Redis and the history of the repository)`,
  async () => {
    const redis = await TestRedis.start();
    try {
      const commit = buildCommit(OLDER, join(directory, 'older'));
      const env = {
        REDIS_URL: redis.url,
        STORAGE_DISK_DIR: join(directory, 'files'),
        AUTH_REQUESTS_PER_MINUTE: '1000000',
      };
      const older = await start('rolling', { build: commit, env });
      const project = await createProject(older, 'Rolling');
      const setUp =
        'create table notes (n int); create policy everybody on notes using (true) with check (true)';
      expect(
        (await adminOf(older).post(`/admin/v1/projects/${project.id}/sql`, { query: setUp })).status,
      ).toBe(200);
      const owner = new HttpClient(older.baseUrl, {
        apikey: project.service_role_key,
        authorization: `Bearer ${project.service_role_key}`,
      }).unchecked();
      await owner.post(`/p/${project.slug}/storage/buckets`, { name: 'box' });

      const load = new Load(project, [older]);
      load.start(4);
      await load.rounds(100);
      const newer = await start('rolling', { build: later, env });
      load.targets = [older, newer];
      await load.rounds(200);
      // As a load balancer does it: no new requests, and then the signal.
      load.targets = [newer];
      await older.end('SIGTERM');
      await load.rounds(100);
      await load.stop();
      expect(load.failed).toEqual([]);
      const [{ version } = { version: '' }] = await query<{ version: string }>(
        'rolling',
        `select schema_version as version from projects where slug = '${project.slug}'`,
      );
      expect(version).toMatch(/_9990000000000$/);
    } finally {
      await redis.stop();
    }
  },
  600_000,
);
