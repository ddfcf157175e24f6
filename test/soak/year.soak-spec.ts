/**
 * Simulates a year of an install. Its clock and the clock of PostgreSQL jump by several days at a time. Between the jumps, people
 * sign up, sign in, write, upload and delete; schedules run; all keys and certificates are rotated; bytes without a row are
 * swept; backups are made, rehearsed and pruned; and the version is upgraded three times. Each project counts 10 GiB of files
 * that do not exist. PLINTH_YEAR_MINUTES is the real length of the test.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import build from '../process/support/build';
import { eventually } from '../support/eventually';
import { FakeClock, hasFakeClock } from '../support/fake-clock';
import { type HttpAnswer, HttpClient } from '../support/http-client';
import { PlinthProcess } from '../support/plinth-process';
import { buildLaterRelease } from '../support/releases';
import { hasRedis, TestRedis } from '../support/redis-server';
import { SystemPostgres } from '../support/system-postgres';
import { issueCertificate } from '../support/test-authority';
import { upload } from '../support/uploads';
import { WebhookReceiver } from '../support/webhook-receiver';

const MINUTES = Number(process.env.PLINTH_YEAR_MINUTES ?? 10);
/** At most, for a request of which the server answers 503. */
const ATTEMPTS = 60;
/** Each step takes at least 30 seconds, because schedules are checked every 30 seconds. */
const STEPS = Math.max(6, MINUTES * 2);
const STEP_MS = (MINUTES * 60_000) / STEPS;
const DAYS = 365 / STEPS;
const PROJECTS = 20;
const DAY_MS = 86_400_000;
/** For the backups of all projects, on a busy machine. */
const BACKUPS_MS = 600_000;
const KEEP = 2;
/** Lifetime of certificates, which are renewed each quarter, up to two steps late if steps are long. */
const CERTIFICATE_DAYS = 220;
const PASSWORD = 'correct horse';
const CLIENTS = 4;
const UPGRADES = 3;
/** Bytes that are added to the counted storage of each project at the start, without any files: 200 GiB in all projects. */
const COUNTED = 10 * 1024 ** 3;
/** In addition to COUNTED: a counter that drifts by a few files makes uploads fail. */
const QUOTA_LEFT = 1024 * 1024;
const FILE = 200_000;
/** A second apart: longer than the minute after which pools close idle connections. */
const READINGS = 75;
const CONNECTIONS = `select count(*) from pg_stat_activity where backend_type = 'client backend'`;
/** Longer than HISTORY_DAYS. */
const OLD_HISTORY = `select count(*)::int as count from project_history where at < now() - interval '8 days'`;
const SCHEMA = `create table notes (id int primary key, text text, at timestamptz default now());
  create table done (at timestamptz default now())`;

/** Main files, maps of free space and visibility maps of all relations. */
const FORKS = `select coalesce(owner.relname || ' (toast)', c.relname) || ' ' || fork as name, pg_relation_size(c.oid, fork) as bytes
  from pg_class c cross join unnest(array['main', 'fsm', 'vm']) fork
  left join pg_class owner on owner.reltoastrelid = c.oid
  where c.relkind in ('r', 'm', 'i', 't', 'S') and not c.relisshared`;

interface Project {
  readonly id: string;
  readonly slug: string;
  anon: string;
  service: string;
}

interface Sample {
  readonly rss: number;
  readonly files: number;
  readonly connections: number;
  readonly archives: number;
  readonly data: number;
  readonly platform: number;
  readonly projects: number;
}

(hasFakeClock && hasRedis ? it : it.skip)(
  'after a year, memory, disk, connections and files are as at its beginning (needs libfaketime and Redis)',
  async () => {
    await build();
    const directory = mkdtempSync(join(tmpdir(), 'plinth-year-'));
    chmodSync(directory, 0o755);
    const clock = new FakeClock();
    const tls = await issueCertificate(directory, 'server', ['127.0.0.1'], { days: CERTIFICATE_DAYS });
    const postgres = await SystemPostgres.start('embedded', {
      tls,
      env: clock.env,
      settings: [
        'max_connections=300',
        'wal_level=logical',
        'max_replication_slots=64',
        'max_wal_size=128MB',
      ],
    });
    const redis = await TestRedis.start();
    const receiver = await WebhookReceiver.start();
    const releases = Array.from({ length: UPGRADES }, (_, n) =>
      buildLaterRelease(join(directory, `later-${n + 1}`), n + 1),
    );
    const dataDir = join(directory, 'install');
    execFileSync('mkdir', [dataDir]);
    const database = new URL(postgres.url);
    database.pathname = '/plinth';
    let adminKey = 'year-platform-admin-key-0-0123456789';
    let masterKey = 'year-master-key-0-0123456789-0123456789';
    let otherMasterKey: string | undefined;
    let plinth: PlinthProcess | undefined;
    const install = (): PlinthProcess => plinth!;
    const start = async (own?: string): Promise<void> => {
      plinth = await PlinthProcess.start({
        dataDir,
        build: own,
        env: {
          ...clock.env,
          DATABASE_URL: database.href,
          REDIS_URL: redis.url,
          MASTER_KEY: masterKey,
          ...(otherMasterKey && { MASTER_KEY_OTHER: otherMasterKey }),
          PLATFORM_ADMIN_KEY: adminKey,
          AUTH_REQUESTS_PER_MINUTE: '1000000',
          BACKUP_PASSPHRASE: PASSWORD,
          BACKUP_URL: `file://${join(directory, 'backups')}`,
          WEBHOOK_ALLOWED_HOSTS: receiver.host,
          LOG_LEVEL: 'warn',
        },
      });
    };
    const admin = (): HttpClient =>
      new HttpClient(install().baseUrl, { authorization: `Bearer ${adminKey}` }, false);
    const as = (key: string, bearer = key): HttpClient =>
      new HttpClient(install().baseUrl, { apikey: key, authorization: `Bearer ${bearer}` }, false);
    const failed: string[] = [];
    let repeated = 0;
    /** Repeats what gets 503, as clients do: other work of the machine may hold it up. Then it may have been done the first time. */
    const ok = async (what: string, send: () => Promise<HttpAnswer>): Promise<HttpAnswer> => {
      for (let attempt = 1; ; attempt += 1) {
        const answer = await send();
        const { status, text } = answer;
        const isDone = [404, 409].includes(status) || text.includes('email_taken');
        if (status < 300 || (attempt > 1 && isDone)) return answer;
        if (status !== 503 || attempt === ATTEMPTS) {
          failed.push(`${what}: ${status} ${text.slice(0, 200)}`);
          return answer;
        }
        repeated += 1;
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      }
    };
    const projects: Project[] = [];

    const createProject = async (n: number): Promise<Project> => {
      const settings = { storage_quota_bytes: COUNTED + QUOTA_LEFT };
      const wanted = { name: `Project ${n}`, slug: null, plan: 'enterprise', settings };
      const { body } = await ok('create', () => admin().post('/admin/v1/projects', wanted));
      const { id, slug, anon_key: anon, service_role_key: service } = body;
      const path = `/admin/v1/projects/${id}`;
      await ok('sql', () => admin().post(`${path}/sql`, { query: SCHEMA }));
      const hook = { table: 'notes', events: ['INSERT'], url: receiver.url(`/${slug}`) };
      await ok('webhook', () => admin().post(`${path}/webhooks`, hook));
      const schedule = { name: 'daily', cron: '0 3 * * *', sql: 'insert into done default values' };
      await ok('schedule', () => admin().post(`${path}/schedules`, schedule));
      await ok('bucket', () => as(service).post(`/p/${slug}/storage/buckets`, { name: 'box' }));
      await postgres.query(
        `insert into storage.usage (account, slot, bytes) values ('00000000-0000-0000-0000-000000000000', 0, ${COUNTED})`,
        `plinth_${id}`,
      );
      return { id, slug, anon, service };
    };

    /** Some days of one project. Rows and files are replaced, so the amount of data remains about the same. */
    const live = async (project: Project, step: number): Promise<void> => {
      const auth = `/v1/auth/${project.id}`;
      const storage = `/p/${project.slug}/storage`;
      const login = { email: `user-${step}@example.com`, password: PASSWORD };
      await ok('sign-up', () => as(project.anon).post(`${auth}/signup`, login));
      const session = await ok('sign-in', () => as(project.anon).post(`${auth}/login`, login));
      const { access_token: token, refresh_token } = session.body.session;
      await ok('user', () => as(project.anon, token).get(`${auth}/user`));
      await ok('refresh', () => as(project.anon).post(`${auth}/refresh`, { refresh_token }));
      await ok('reset', () => as(project.anon).post(`${auth}/reset-password`, { email: login.email }));
      const rows = Array.from({ length: 50 }, (_, id) => ({ id, text: 'x'.repeat(500) }));
      await ok('delete', () => as(project.service).delete('/rest/v1/notes?id=gte.0'));
      await ok('insert', () => as(project.service).post('/rest/v1/notes', rows));
      await ok('update', () =>
        as(project.service).patch('/rest/v1/notes?id=gte.0', { text: 'y'.repeat(500) }),
      );
      const name = `file-${step}.txt`;
      const send = () => upload(as(project.service), storage, 'box', 'z'.repeat(FILE), { name });
      const file = await ok('upload', send);
      const list = await ok('list', () => as(project.service).get(`${storage}/buckets/box/files`));
      const ids = ((list.body?.data?.files ?? list.body?.data ?? []) as { id: string }[]).map(({ id }) => id);
      const old = ids.filter((id) => id !== file.body?.data?.id);
      if (old.length > 0)
        await ok('remove', () => as(project.service).post(`${storage}/files/bulk-delete`, { file_ids: old }));
      const users = await ok('users', () => as(project.service).get(`${auth}/admin/users?limit=100`));
      for (const { id, email } of (users.body?.users ?? []) as { id: string; email: string }[])
        if (email !== login.email)
          await ok('delete user', () => as(project.service).delete(`${auth}/admin/users/${id}`));
      await ok('document', () => as(project.service).get('/rest/v1/'));
    };

    const rotate = async (project: Project): Promise<void> => {
      const path = `/admin/v1/projects/${project.id}/keys/rotate`;
      const rotated = await ok('rotate', () => admin().post(path, { grace_seconds: 0 }));
      if (rotated.status === 200)
        Object.assign(project, { anon: rotated.body.anon_key, service: rotated.body.service_role_key });
    };

    /** Waits until no backup has the project. @returns the number of removed objects */
    const sweep = async ({ id }: Project): Promise<number> => {
      let removed = 0;
      await eventually(async () => {
        const { status, body } = await admin().post(`/admin/v1/projects/${id}/storage/sweep`);
        expect({ status, lost: body.rows_without_bytes }).toEqual({ status: 200, lost: 0 });
        removed = body.removed_objects;
      }, BACKUPS_MS);
      return removed;
    };

    /** Sweeps bytes whose row an owner's SQL deleted. */
    const sweepLost = async (project: Project): Promise<void> => {
      const { id, slug, service } = project;
      const path = `/admin/v1/projects/${id}`;
      const name = { name: 'lost.txt' };
      const query = `delete from storage.files where filename = 'lost.txt'`;
      await ok('upload', () => upload(as(service), `/p/${slug}/storage`, 'box', 'lost', name));
      await ok('delete row', () => admin().post(`${path}/sql`, { query }));
      expect(await sweep(project)).toBeGreaterThanOrEqual(1);
    };

    /** Waits until no secret needs the previous master key. */
    const rekeyed = (): Promise<void> =>
      eventually(async () => {
        const { body } = await ok('doctor', () => admin().post('/admin/v1/doctor', {}));
        const found = body.findings.find(({ check }: { check: string }) => check === 'master_key');
        expect(found?.message).toBe('no secret is encrypted under MASTER_KEY_OTHER');
      }, BACKUPS_MS);

    /** Replaces the certificate, the admin key and the master key, and starts the same or a later version. */
    const renewInstall = async (quarter: number): Promise<void> => {
      const passed = Math.round((clock.now().getTime() - Date.now()) / DAY_MS);
      const validity = { days: passed + CERTIFICATE_DAYS, authority: tls };
      const renewed = await issueCertificate(directory, 'server', ['127.0.0.1'], validity);
      await postgres.renew(renewed);
      expect(await install().end('SIGTERM')).toBe(0);
      adminKey = `year-platform-admin-key-${quarter}-0123456789`;
      otherMasterKey = masterKey;
      masterKey = `year-master-key-${quarter}-0123456789-0123456789`;
      await start(releases[Math.min(quarter, UPGRADES) - 1]);
      await rekeyed();
      await sweepLost(projects[quarter]!);
    };

    /** @param readings of the counts of files and connections */
    const sample = async (readings = 1): Promise<Sample> => {
      const pid = install().child.pid ?? 0;
      const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
      const one = async (query: string): Promise<number> =>
        Number(Object.values((await postgres.query(query))[0]!)[0]);
      const du = (path: string): number =>
        Number(execFileSync('du', ['-sk', '--exclude=mail', path], { encoding: 'utf8' }).split('\t')[0]) /
        1024;
      // The lowest reading is what is held for good.
      let [files, connections] = [Infinity, Infinity];
      for (let reading = 0; reading < readings; reading += 1) {
        if (reading > 0) await new Promise((resolve) => setTimeout(resolve, 1_000));
        files = Math.min(files, readdirSync(`/proc/${pid}/fd`).length);
        connections = Math.min(connections, await one(CONNECTIONS));
      }
      return {
        rss: Math.round(rss),
        files,
        connections,
        archives: readdirSync(join(directory, 'backups'), { recursive: true, withFileTypes: true }).filter(
          (entry) => entry.isFile(),
        ).length,
        data: du(join(dataDir, 'data')),
        platform: (await one(`select pg_database_size('plinth')`)) / 1024 / 1024,
        projects:
          (await one(`select sum(pg_database_size(oid)) from pg_database where datname like 'plinth\\_%'`)) /
          1024 /
          1024,
      };
    };
    /** Waits for the backups that are due at the present time. */
    const backedUp = (): Promise<void> =>
      eventually(async () => {
        const { body } = await ok('backups', () => admin().get('/admin/v1/backups'));
        const due = clock.now().getTime() - DAY_MS;
        const late = (body.projects as { slug: string; last_success_at: string | null }[]).filter(
          ({ last_success_at: at }) => at === null || Date.parse(at) < due,
        );
        expect(late.map(({ slug }) => slug)).toEqual([]);
      }, BACKUPS_MS);
    /** Bytes of each relation by type of file, summed over the projects. */
    const relations = async (): Promise<Map<string, number>> => {
      // Rehearsals create and drop scratch databases, which are not measured.
      const names = ['plinth', ...projects.map(({ id }) => `plinth_${id}`)];
      const sizes = new Map<string, number>();
      for (const database of names)
        for (const { name, bytes } of await postgres.query<{ name: string; bytes: string }>(
          FORKS,
          database,
        )) {
          const key = `${database === 'plinth' ? 'platform' : 'projects'} ${name}`;
          sizes.set(key, (sizes.get(key) ?? 0) + Number(bytes));
        }
      return sizes;
    };

    try {
      await start();
      const daily = { cron: '30 2 * * *', keep: KEEP, rehearse_days: 90 };
      await ok('backups', () => admin().put('/admin/v1/backups/schedule', daily));
      for (let n = 0; n < PROJECTS; n += 1) projects.push(await createProject(n));
      const samples: Sample[] = [];
      let sizes = new Map<string, number>();
      for (let step = 0; step < STEPS; step += 1) {
        const until = performance.now() + STEP_MS;
        clock.move(Math.round(DAYS * 86_400));
        const left = projects.slice();
        const work = async (): Promise<void> => {
          for (let next = left.pop(); next; next = left.pop()) await live(next, step);
        };
        // A process can keep the previous time for a second.
        await new Promise((resolve) => setTimeout(resolve, 1_500));
        await eventually(async () => {
          const [time] = await postgres.query<{ now: Date }>('select now()');
          expect(Math.abs(time!.now.getTime() - clock.now().getTime())).toBeLessThan(DAY_MS);
        });
        await Promise.all(Array.from({ length: CLIENTS }, work));
        for (let n = step % 5; n < PROJECTS; n += 5) await rotate(projects[n]!);
        const quarter = (step + 1) / Math.ceil(STEPS / 4);
        if (Number.isInteger(quarter)) await renewInstall(quarter);
        while (performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 250));
        await backedUp();
        const isCompared = step === 1 || step === STEPS - 1;
        const taken = await sample(isCompared ? READINGS : 1);
        samples.push(taken);
        process.stdout.write(`${clock.now().toISOString().slice(0, 10)} ${JSON.stringify(taken)}\n`);
        if (step === 1) sizes = await relations();
      }
      const ends = await relations();
      const grown = [...ends]
        .map(([name, bytes]) => ({ name, bytes, added: bytes - (sizes.get(name) ?? 0) }))
        .filter(({ added }) => added > 128 * 1024)
        .sort((x, y) => y.added - x.added);
      process.stdout.write(`grown: ${JSON.stringify(grown)}\n`);
      const runs = (await admin().get('/admin/v1/backups/runs?limit=1000')).body as {
        status: string;
        error: string | null;
      }[];
      const bad = runs.filter(({ status }) => status === 'failed');
      process.stdout.write(
        `runs: ${runs.length}, failed ${bad.length} ${JSON.stringify(bad.slice(0, 3))}, requests repeated: ${repeated}\n`,
      );
      for (const project of projects) {
        const { id } = project;
        const { body } = await ok('usage', () => admin().get(`/admin/v1/projects/${id}/usage`));
        expect(body.quotas).toContainEqual(
          expect.objectContaining({ name: 'storage_bytes', used: COUNTED + FILE }),
        );
        // Bytes of files that were deleted during a backup.
        await sweep(project);
        await eventually(async () => {
          const check = await ok('check', () => admin().get(`/admin/v1/projects/${id}/storage/check`));
          expect(check.body).toMatchObject({ objects: 1, rows_without_bytes: { count: 0 } });
        });
        const [ran] = await postgres.query<{ count: number }>(
          'select count(*)::int as count from done',
          `plinth_${id}`,
        );
        // Each minute of the test has a due time or more, but the steps in which Plinth restarts.
        expect(ran!.count).toBeGreaterThanOrEqual(MINUTES / 2);
        const query = `select later + later${UPGRADES} as sum from auth.users limit 1`;
        const migrated = await ok('migrated', () => admin().post(`/admin/v1/projects/${id}/sql`, { query }));
        expect(migrated.body.rows).toEqual([{ sum: 14 }]);
      }
      await eventually(
        async () => expect(await postgres.query(OLD_HISTORY, 'plinth')).toEqual([{ count: 0 }]),
        BACKUPS_MS,
      );
      expect([...new Set(failed)].slice(0, 10)).toEqual([]);
      const [, first] = samples as [Sample, Sample];
      const last = samples.at(-1)!;
      expect(last.files).toBeLessThanOrEqual(first.files * 1.1 + 5);
      expect(last.connections).toBeLessThanOrEqual(first.connections * 1.1 + 5);
      expect(last.data).toBeLessThanOrEqual(first.data * 1.1 + 1);
      // One collection of garbage more or less decides about a single sample.
      const memory = samples.map(({ rss }) => rss);
      expect(Math.min(...memory.slice(-3))).toBeLessThanOrEqual(Math.max(...memory.slice(0, 3)) * 1.1);
      // The test's own table is excluded, because its dead rows wait for autovacuum.
      const projectBytes = (all: Map<string, number>): number =>
        [...all].reduce((sum, [name, bytes]) => sum + (/^projects (?!notes)/.test(name) ? bytes : 0), 0);
      expect(projectBytes(ends)).toBeLessThanOrEqual(projectBytes(sizes) * 1.1);
      await eventually(async () =>
        expect((await sample()).archives).toBeLessThanOrEqual((PROJECTS + 2) * KEEP + 2),
      );
    } finally {
      const problems = plinth?.printed.split('\n').filter((line) => /"level":[45]0/.test(line)) ?? [];
      process.stdout.write(problems.slice(-20).join('\n'));
      await plinth?.end('SIGKILL');
      await Promise.all([receiver.stop(), redis.stop(), postgres.stop()]);
      rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    }
  },
  (MINUTES + 20) * 60_000 + STEPS * BACKUPS_MS,
);
