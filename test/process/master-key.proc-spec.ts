/** The generated master key is replaced as docs/guides/operations.md says, with kill -9 in the middle of the re-encryption. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';
import { until } from '../support/eventually';
import { IN_SOAK } from '../support/extent';
import { PlinthProcess } from '../support/plinth-process';
import { startPostgres } from './support/first-start';
import { ROOT } from './support/processes';

const PROJECTS = IN_SOAK ? 6 : 3;
const BLOCKED = `select from pg_stat_activity where wait_event_type = 'Lock' and query ~ 'unnest'`;

let directory: string;
let postgres: EmbeddedPostgres;
let plinth: PlinthProcess | undefined;
let url: URL;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-master-key-'));
  postgres = await startPostgres({ dataDir: join(directory, 'pg') });
  url = new URL(postgres.url);
  url.pathname = '/plinth';
}, 120_000);
afterAll(async () => {
  await plinth?.end('SIGKILL');
  await postgres.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function start(): Promise<PlinthProcess> {
  plinth = await PlinthProcess.start({ dataDir: directory, env: { DATABASE_URL: url.href } });
  return plinth;
}

/** Keys and passwords of each project, in clear. */
async function secretsOf({ admin }: PlinthProcess): Promise<unknown[]> {
  const { body } = await admin.get('/admin/v1/projects');
  const paths = body.map(({ id }) => `/admin/v1/projects/${id}`);
  const found = paths.flatMap((path) =>
    [`${path}/keys`, `${path}/database`].map(async (each) => {
      const { status, body: secrets } = await admin.get(each);
      expect(status).toBe(200);
      return secrets as unknown;
    }),
  );
  return Promise.all(found);
}

/** Lines of the page, without the restarts, which the test makes itself. */
function documentedSteps(): (line: string) => void {
  const page = readFileSync(join(ROOT, 'docs/guides/operations.md'), 'utf8');
  const block = /```sh\n(cd \/var\/lib\/plinth[^]*?)```/.exec(page)?.[1] ?? '';
  return (beginning) => {
    const found = block.split('\n').filter((line) => line.startsWith(beginning));
    expect(found).toHaveLength(1);
    const [command = ''] = (found[0] ?? '').split(' && systemctl');
    execFileSync('bash', ['-ec', command], { cwd: join(directory, 'data') });
  };
}

async function finding({ admin }: PlinthProcess): Promise<string> {
  const { body } = await admin.post('/admin/v1/doctor', {});
  return body.findings.find(({ check }) => check === 'master_key')?.message ?? 'none';
}

it('keeps all secrets, and starts without a key only once nothing is encrypted under it', async () => {
  const first = await start();
  for (let i = 0; i < PROJECTS; i += 1)
    expect((await first.admin.post('/admin/v1/projects', { name: `p${i}`, slug: `p${i}` })).status).toBe(201);
  const before = await secretsOf(first);
  await first.end('SIGKILL');

  const [key, other] = ['master-key', 'master-key-other'].map((name) => join(directory, 'data', name)) as [
    string,
    string,
  ];
  copyFileSync(key, join(directory, 'kept'));
  const steps = documentedSteps();
  steps('cp -p');
  // A kill between the two steps: both files have the same key.
  if (IN_SOAK) await (await start()).end('SIGKILL');
  steps('(umask');
  const locks = new Client({ connectionString: url.href });
  await locks.connect();
  for (const table of IN_SOAK ? ['projects', 'project_secrets'] : ['project_secrets']) {
    await locks.query(`begin; select from ${table} for update`);
    const running = await start();
    await until(async () => (await locks.query(BLOCKED)).rows.length > 0);
    expect(await finding(running)).toMatch(
      /^\d+ secrets of the platform, or some of projects, are encrypted/,
    );
    expect(await secretsOf(running)).toEqual(before);
    await running.end('SIGKILL');
    await locks.query('rollback');
    rmSync(other);
    // One line and nothing else.
    await expect(start()).rejects.toThrow(
      /start:\n(MASTER_KEY is not the one|.* still encrypted under another key).*\n$/,
    );
    copyFileSync(join(directory, 'kept'), other);
  }
  await locks.end();
  const rotated = await start();
  await until(async () => (await finding(rotated)) === 'no secret is encrypted under MASTER_KEY_OTHER');
  await rotated.end('SIGKILL');
  steps('rm ');
  const last = await start();
  expect(await secretsOf(last)).toEqual(before);
  expect(await finding(last)).toBe('one master key is in use');
}, 240_000);
