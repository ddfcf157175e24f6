/**
 * A year of an install: its clock and the clock of PostgreSQL jump by days, between which people sign up and in, write,
 * upload and delete, keys and certificates are rotated, backups made and pruned, and the version is upgraded three
 * times. PLINTH_YEAR_MINUTES is its real length.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import build from '../process/support/build';
import { eventually } from '../support/eventually';
import { FakeClock, hasFakeClock } from '../support/fake-clock';
import { HttpClient } from '../support/http-client';
import { PlinthProcess } from '../support/plinth-process';
import { buildLaterRelease } from '../support/releases';
import { hasRedis, TestRedis } from '../support/redis-server';
import { SystemPostgres } from '../support/system-postgres';
import { issueCertificate } from '../support/test-authority';
import { upload } from '../support/uploads';
import { WebhookReceiver } from '../support/webhook-receiver';

const MINUTES = Number(process.env.PLINTH_YEAR_MINUTES ?? 10);
/** Each step takes at least 30 seconds, because schedules are checked every 30 seconds. */
const STEPS = Math.max(6, MINUTES * 2);
const STEP_MS = (MINUTES * 60_000) / STEPS;
const DAYS = 365 / STEPS;
const PROJECTS = 20;
const KEEP = 2;
/** Lifetime of certificates, which are renewed each quarter, up to two steps late if steps are long. */
const CERTIFICATE_DAYS = 220;
const PASSWORD = 'correct horse';
const CLIENTS = 4;
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
    const later = buildLaterRelease(join(directory, 'later'));
    const dataDir = join(directory, 'install');
    execFileSync('mkdir', [dataDir]);
    const database = new URL(postgres.url);
    database.pathname = '/plinth';
    let adminKey = 'year-platform-admin-key-0-0123456789';
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
          MASTER_KEY: 'year-master-key-0123456789-0123456789',
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
    const expectOk = async (what: string, sent: Promise<{ status: number; text: string }>): Promise<void> => {
      const { status, text } = await sent;
      if (status < 300) return;
      failed.push(`${what}: ${status} ${text.slice(0, 200)}`);
      if (status >= 500) process.stdout.write(`${what}: ${plinth?.printed.slice(-3_000)}\n`);
    };
    const projects: Project[] = [];

    const createProject = async (n: number): Promise<Project> => {
      const { body } = await admin().post('/admin/v1/projects', {
        name: `Project ${n}`,
        slug: null,
        plan: 'enterprise',
      });
      const { id, slug, anon_key: anon, service_role_key: service } = body;
      const path = `/admin/v1/projects/${id}`;
      await expectOk('sql', admin().post(`${path}/sql`, { query: SCHEMA }));
      const hook = { table: 'notes', events: ['INSERT'], url: receiver.url(`/${slug}`) };
      await expectOk('webhook', admin().post(`${path}/webhooks`, hook));
      const schedule = { name: 'daily', cron: '0 3 * * *', sql: 'insert into done default values' };
      await expectOk('schedule', admin().post(`${path}/schedules`, schedule));
      await expectOk('bucket', as(service).post(`/p/${slug}/storage/buckets`, { name: 'box' }));
      return { id, slug, anon, service };
    };

    /** Some days of one project. Rows and files are replaced, so the amount of data remains about the same. */
    const live = async (project: Project, step: number): Promise<void> => {
      const auth = `/v1/auth/${project.id}`;
      const storage = `/p/${project.slug}/storage`;
      const login = { email: `user-${step}@example.com`, password: PASSWORD };
      await expectOk('sign-up', as(project.anon).post(`${auth}/signup`, login));
      const session = await as(project.anon).post(`${auth}/login`, login);
      const { access_token: token, refresh_token } = session.body.session;
      await expectOk('user', as(project.anon, token).get(`${auth}/user`));
      await expectOk('refresh', as(project.anon).post(`${auth}/refresh`, { refresh_token }));
      await expectOk('reset', as(project.anon).post(`${auth}/reset-password`, { email: login.email }));
      const rows = Array.from({ length: 50 }, (_, id) => ({ id, text: 'x'.repeat(500) }));
      await expectOk('delete', as(project.service).delete('/rest/v1/notes?id=gte.0'));
      await expectOk('insert', as(project.service).post('/rest/v1/notes', rows));
      await expectOk(
        'update',
        as(project.service).patch('/rest/v1/notes?id=gte.0', { text: 'y'.repeat(500) }),
      );
      const file = await upload(as(project.service), storage, 'box', 'z'.repeat(200_000), {
        name: `file-${step}.txt`,
      });
      await expectOk('upload', Promise.resolve(file));
      const list = await as(project.service).get(`${storage}/buckets/box/files`);
      const ids = ((list.body?.data?.files ?? list.body?.data ?? []) as { id: string }[]).map(({ id }) => id);
      const old = ids.filter((id) => id !== file.body?.data?.id);
      if (old.length > 0)
        await expectOk('remove', as(project.service).post(`${storage}/files/bulk-delete`, { file_ids: old }));
      const users = await as(project.service).get(`${auth}/admin/users?limit=100`);
      for (const { id, email } of (users.body?.users ?? []) as { id: string; email: string }[])
        if (email !== login.email)
          await expectOk('delete user', as(project.service).delete(`${auth}/admin/users/${id}`));
      await expectOk('document', as(project.service).get('/rest/v1/'));
    };

    const rotate = async (project: Project): Promise<void> => {
      const rotated = await admin().post(`/admin/v1/projects/${project.id}/keys/rotate`, {
        grace_seconds: 0,
      });
      await expectOk('rotate', Promise.resolve(rotated));
      if (rotated.status === 200)
        Object.assign(project, { anon: rotated.body.anon_key, service: rotated.body.service_role_key });
    };

    const sample = async (): Promise<Sample> => {
      const pid = install().child.pid ?? 0;
      const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
      const one = async (query: string): Promise<number> =>
        Number(Object.values((await postgres.query(query))[0]!)[0]);
      const du = (path: string): number =>
        Number(execFileSync('du', ['-sk', path], { encoding: 'utf8' }).split('\t')[0]) / 1024;
      return {
        rss: Math.round(rss),
        files: readdirSync(`/proc/${pid}/fd`).length,
        connections: await one(`select count(*) from pg_stat_activity where backend_type = 'client backend'`),
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
      await expectOk('backups', admin().put('/admin/v1/backups/schedule', daily));
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
        await Promise.all(Array.from({ length: CLIENTS }, work));
        for (let n = step % 5; n < PROJECTS; n += 5) await rotate(projects[n]!);
        if (step % Math.ceil(STEPS / 4) === Math.ceil(STEPS / 4) - 1) {
          // Every three months, replaces the certificate and the admin key, and starts the same or a later version.
          const passed = Math.round((clock.now().getTime() - Date.now()) / 86_400_000);
          const validity = { days: passed + CERTIFICATE_DAYS, authority: tls };
          const renewed = await issueCertificate(directory, 'server', ['127.0.0.1'], validity);
          await postgres.renew(renewed);
          expect(await install().end('SIGTERM')).toBe(0);
          adminKey = `year-platform-admin-key-${step + 1}-0123456789`;
          await start(step * 2 > STEPS ? later : undefined);
        }
        while (performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 250));
        const taken = await sample();
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
      process.stdout.write(`runs: ${runs.length}, failed ${bad.length} ${JSON.stringify(bad.slice(0, 3))}\n`);
      expect([...new Set(failed)].slice(0, 10)).toEqual([]);
      const [, first] = samples as [Sample, Sample];
      const last = samples.at(-1)!;
      expect(last.files).toBeLessThanOrEqual(first.files * 1.1 + 5);
      expect(last.connections).toBeLessThanOrEqual(first.connections * 1.1 + 5);
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
  (MINUTES + 20) * 60_000,
);
