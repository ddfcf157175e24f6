/**
 * The runbook with pgBackRest in docs/guides/backup.md, as it is written, for a PostgreSQL of its own and files on disk. Only paths,
 * port and time differ. Needs Debian's packages `postgresql` and `pgbackrest`, and root.
 */
import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import build from '../process/support/build';
import { ROOT } from '../process/support/processes';
import { eventually } from '../support/eventually';
import { HttpClient } from '../support/http-client';
import { freePort, PlinthProcess, PROCESS_ADMIN_KEY } from '../support/plinth-process';
import { asPostgres } from '../support/postgres-server';
import { installedMajors } from '../support/system-postgres';
import { upload } from '../support/uploads';

const LIMIT_MS = 300_000;
const PASSWORD = 'pgbackrest-secret';
const MASTER_KEY = 'pgbackrest-master-key-0123456789-0123456789';
const major = installedMajors(Infinity).at(-1);
const isPossible =
  major !== undefined && asPostgres.uid !== undefined && spawnSync('pgbackrest', ['version']).status === 0;

const PAGE = readFileSync(join(ROOT, 'docs/guides/backup.md'), 'utf8').split('## pgBackRest')[1] ?? '';
const EXAMPLE_TIME = '2026-05-01 12:29:00+00:00';

/** The only code block of the page's pgBackRest section in this language that contains `text`. */
function block(language: string, text: string): string {
  const section = PAGE.split('\n## ')[0] ?? '';
  const found = [...section.matchAll(new RegExp(`^ *\`\`\`${language}\\n([^]*?)^ *\`\`\`$`, 'gm'))]
    .map(([, content = '']) => content)
    .filter((content) => content.includes(text));
  expect([text, found.length]).toEqual([text, 1]);
  return (found[0] as string)
    .replace(/^ +/gm, '')
    .replaceAll('/var/lib/postgresql/15', directory)
    .replaceAll('/mnt', directory);
}

let directory: string;
let port: number;
let postgres: ChildProcess | undefined;
let plinth: PlinthProcess | undefined;

const environment = (): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  PGBACKREST_CONFIG: join(directory, 'pgbackrest.conf'),
  PGBACKREST_PG1_PORT: String(port),
  PGBACKREST_PG1_SOCKET_PATH: directory,
  PGBACKREST_LOG_PATH: join(directory, 'log'),
  PGBACKREST_LOCK_PATH: join(directory, 'lock'),
});
const settings = (): Record<string, string> => ({
  DATA_DIR: join(directory, 'data'),
  DATABASE_URL: `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/plinth`,
  MASTER_KEY,
  FILE_ARCHIVE_URL: `file://${join(directory, 'backup/files')}`,
});

/** Runs commands of the page. @returns what they print; rejects when one of them fails */
function run(commands: string): Promise<string> {
  const sudo = 'sudo() { shift 2; setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }';
  const cli = `plinth() { '${process.execPath}' '${join(ROOT, 'dist/src/cli.js')}' "$@"; }`;
  const env = {
    ...environment(),
    ...settings(),
    HOME: directory,
    ...(plinth ? { PORT: new URL(plinth.baseUrl).port } : {}),
    PLATFORM_ADMIN_KEY: PROCESS_ADMIN_KEY,
  };
  return new Promise((resolve, reject) => {
    execFile('bash', ['-euc', `${sudo}\n${cli}\n${commands}`], { cwd: directory, env }, (error, out, err) =>
      error ? reject(new Error(`${commands}\n${out}${err}`)) : resolve(out),
    );
  });
}

async function query(text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: settings().DATABASE_URL?.replace(/plinth$/, 'postgres') });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

async function startPostgres(): Promise<void> {
  const program = `/usr/lib/postgresql/${major}/bin/postgres`;
  const options = { ...asPostgres, env: environment(), stdio: 'ignore' } as const;
  postgres = spawn(program, ['-D', join(directory, 'main')], options);
  await eventually(
    async () => expect(await query('select pg_is_in_recovery() as recovers')).toEqual([{ recovers: false }]),
    60_000,
  );
}

async function stopPostgres(): Promise<void> {
  const ended = new Promise((resolve) => postgres?.once('exit', resolve));
  postgres?.kill('SIGINT');
  await ended;
}

async function startPlinth(): Promise<PlinthProcess> {
  plinth = await PlinthProcess.start({ dataDir: directory, env: settings() });
  return plinth;
}

beforeAll(async () => {
  if (!isPossible) return;
  await build();
  directory = mkdtempSync(join(tmpdir(), 'plinth-pgbackrest-'));
  chmodSync(directory, 0o755);
  port = await freePort();
  for (const folder of ['main', 'backup/pgbackrest', 'log', 'lock'])
    mkdirSync(join(directory, folder), { recursive: true, mode: 0o700 });
  for (const folder of ['main', 'backup', 'backup/pgbackrest', 'log', 'lock', ''])
    chownSync(join(directory, folder), asPostgres.uid ?? 0, asPostgres.gid ?? 0);
  chmodSync(join(directory, 'backup'), 0o755);
  const passwordFile = join(directory, 'password');
  writeFileSync(passwordFile, PASSWORD, { mode: 0o644 });
  const init = ['-A', 'scram-sha-256', '--auth-local=peer', `--pwfile=${passwordFile}`, '--locale=C.UTF-8'];
  const initdb = `/usr/lib/postgresql/${major}/bin/initdb`;
  execFileSync(initdb, ['-D', join(directory, 'main'), '-U', 'postgres', ...init], {
    ...asPostgres,
    stdio: 'pipe',
  });
  const own = `port = ${port}\nunix_socket_directories = '${directory}'\nwal_level = logical\n`;
  appendFileSync(join(directory, 'main/postgresql.conf'), own + block('ini', 'archive_command'));
  writeFileSync(join(directory, 'pgbackrest.conf'), block('ini', '[global]'));
}, LIMIT_MS);
afterAll(async () => {
  if (!isPossible) return;
  await plinth?.end('SIGKILL');
  await stopPostgres();
  rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}, 60_000);

(isPossible ? it : it.skip)(
  'an install and its files return to a moment before a mistake (needs pgBackRest, PostgreSQL and root)',
  async () => {
    await startPostgres();
    const { admin, baseUrl } = await startPlinth();
    const {
      id,
      slug,
      service_role_key: key,
    } = (await admin.post('/admin/v1/projects', { name: 'Acme' })).body;
    const sql = (text: string) => plinth?.admin.post(`/admin/v1/projects/${id}/sql`, { query: text });
    await sql('create table notes (n int)');
    const as = (url: string): HttpClient =>
      new HttpClient(url, { apikey: key, authorization: `Bearer ${key}` });
    await as(baseUrl).post(`/p/${slug}/storage/buckets`, { name: 'box' });
    const add = async (name: string): Promise<string> =>
      (await upload(as(baseUrl), `/p/${slug}/storage`, 'box', name, { name })).body.data.id as string;
    const first = await add('first');
    await run(block('sh', 'stanza-create'));
    const second = await add('second');
    await sql('insert into notes values (1)');
    const [{ now } = {}] = await query(
      `select to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS.US+00:00') as now`,
    );
    await sql('insert into notes values (2)');
    await sql('drop table notes');
    expect((await as(baseUrl).delete(`/p/${slug}/storage/files/${first}`)).status).toBe(200);
    await add('third');

    await plinth?.end('SIGTERM');
    plinth = undefined;
    await stopPostgres();
    rmSync(join(directory, 'data/files'), { recursive: true });
    const recover = block('sh', '--files-at');
    expect(recover).toContain(EXAMPLE_TIME);
    expect(await run(recover.replaceAll(EXAMPLE_TIME, String(now)))).toMatch(/^archived_files +[23]$/m);
    await startPostgres();
    const { baseUrl: again } = await startPlinth();
    expect((await as(again).get('/rest/v1/notes')).body).toEqual([{ n: 1 }]);
    for (const [file, content] of [
      [first, 'first'],
      [second, 'second'],
    ] as const) {
      const answer = await as(again).get(`/p/${slug}/storage/files/${file}/download`);
      expect([answer.status, answer.text]).toEqual([200, content]);
    }
    const list = (await as(again).get(`/p/${slug}/storage/buckets/box/files`)).body.data;
    expect(list.map(({ filename }: { filename: string }) => filename).sort()).toEqual(['first', 'second']);
    process.stdout.write(await run('plinth storage check'));
  },
  LIMIT_MS,
);
