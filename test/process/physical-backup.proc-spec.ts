/**
 * A physical backup and the archive of the write-ahead log restore a lost machine to a moment in time on another
 * machine.
 */
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AdminClient } from '../../src/cli/admin-client';
import { runCli } from '../../src/cli/run-cli';
import { loadClientConfig, loadLocalConfig } from '../../src/config/load-client-config';
import { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';
import { withConnection } from '../../src/database/pools/one-off-connection';
import { cliEnvironment } from '../support/cli-environment';
import { eventually } from '../support/eventually';
import { IN_SOAK } from '../support/extent';
import { HttpClient } from '../support/http-client';
import { PlinthProcess, withCompiledCode } from '../support/plinth-process';
import { copyFirstStart } from './support/first-start';
import { Program, ROOT, until } from './support/processes';

const CLI = join(ROOT, 'dist/src/cli.js');
/** The commands of docs/guides/backup.md, which run as they are written, except for the directories and the time. */
const PAGE = readFileSync(join(ROOT, 'docs/guides/backup.md'), 'utf8').split('## Physical backups')[1] ?? '';
const [BACK_UP = '', RESTORE = '', RESTORE_UNTIL = ''] = [...PAGE.matchAll(/^ *```sh\n([^]*?)^ *```$/gm)].map(
  ([, text]) => text,
);
/** Number of kills of a restore; a long run sets more. */
const KILLS = Number(process.env.PLINTH_KILLS ?? 1);
/** Files that appear during a restore; with postmaster.pid PostgreSQL is in recovery. */
const STAGES = ['postgres/postgresql.conf', 'postgres/postmaster.pid', 'master-key'];
const CONTENT = 'the bytes of a file '.repeat(50_000);
const PASSPHRASE = 'a long passphrase that is kept elsewhere';

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

let directory: string;
let archive: string;
let plinth: PlinthProcess;
let project: { id: string; slug: string; service_role_key: string };
let fileId: string;
let laterId: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-physical-'));
  archive = join(directory, 'wal');
  await copyFirstStart(dataDir('data'));
});
afterAll(async () => {
  await plinth.end('SIGKILL');
  rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
});

const at = (file: string): string => join(directory, file);
const dataDir = at;

/** Starts Plinth with generated keys, which a backup must contain. */
async function start(name: string, env: Record<string, string> = {}): Promise<void> {
  plinth = await PlinthProcess.start({
    dataDir: directory,
    env: { DATA_DIR: dataDir(name), PLATFORM_ADMIN_KEY: '', WAL_ARCHIVE_DIR: archive, ...env },
  });
}

const environment = (name: string): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  DATA_DIR: dataDir(name),
  WAL_ARCHIVE_DIR: archive,
  BACKUP_PASSPHRASE: PASSPHRASE,
  PORT: new URL(plinth.baseUrl).port,
  ...withCompiledCode(),
});

function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(program, args, { cwd: directory, env }, (_error, out, err) =>
      resolve({ code: child.exitCode ?? -1, out, err }),
    );
  });
}

/** Runs the command line in this process, in the directory. */
async function cli(name: string, ...args: string[]): Promise<Outcome> {
  const [env, said] = [environment(name), { out: '', err: '' }];
  const inDirectory = (arg: string): string => (existsSync(at(arg)) ? at(arg) : arg);
  const code = await runCli(
    args.map(inDirectory),
    cliEnvironment({
      connect: () => AdminClient.for(loadClientConfig(env)),
      passphrase: () => PASSPHRASE,
      localInstall: () => loadLocalConfig(env),
      out: (text) => void (said.out += text),
      err: (text) => void (said.err += text),
    }),
  );
  return { code, ...said };
}

/** Runs commands of the page. */
function documented(commands: string, name: string, time = ''): Promise<Outcome> {
  const own = commands
    .replace('/var/lib/plinth', dataDir(name))
    .replace('/mnt/backup/wal', archive)
    .replace('2026-05-01T12:29:00Z', time);
  return run('sh', ['-ec', `plinth() { '${process.execPath}' '${CLI}' "$@"; }\n${own}`], environment(name));
}

async function expectSuccess(outcome: Promise<Outcome>): Promise<string> {
  const { code, out, err } = await outcome;
  expect([code, code === 0 ? '' : err]).toEqual([0, '']);
  return out;
}

function admin(name: string): HttpClient {
  const key = readFileSync(join(dataDir(name), 'platform-admin-key'), 'utf8').trim();
  return new HttpClient(plinth.baseUrl, { authorization: `Bearer ${key}` });
}

const service = (): HttpClient => {
  const key = project.service_role_key;
  return new HttpClient(plinth.baseUrl, { apikey: key, authorization: `Bearer ${key}` });
};

async function sql(name: string, query: string): Promise<Record<string, unknown>[]> {
  const { status, body } = await admin(name).post(`/admin/v1/projects/${project.id}/sql`, { query });
  expect([status, body.error]).toEqual([200, undefined]);
  return body.rows;
}

/** Resolves when the archive has every change so far. */
async function archived(name: string): Promise<void> {
  const [now] = await sql(name, 'select pg_current_wal_flush_lsn()::text as lsn');
  const behind = `select slot_name from pg_replication_slots
    where slot_name = 'plinth_wal_archive' and restart_lsn >= '${String(now?.lsn)}'`;
  await eventually(async () => expect(await sql(name, behind)).toHaveLength(1), 30_000);
}

/** Resolves when the doctor finds this about the archive. */
async function diagnosed(name: string, finding: object): Promise<void> {
  await eventually(async () => {
    const { body } = await admin(name).post('/admin/v1/doctor', {});
    const found = (body.findings as { check: string }[]).filter(({ check }) => check === 'wal_archive');
    expect(found).toEqual([expect.objectContaining(finding)]);
  }, 60_000);
}

const notes = async (): Promise<string[]> => {
  const { body } = await service().get('/rest/v1/notes?order=n');
  return (body as { text: string }[]).map(({ text }) => text);
};

async function fill(name: string): Promise<void> {
  project = (await admin(name).post('/admin/v1/projects', { name: 'Kept' })).body;
  await sql(name, 'create table notes (n int generated always as identity, text text)');
  await sql(name, `insert into notes (text) values ('before the backup')`);
  await service().post(`/p/${project.slug}/storage/buckets`, { name: 'box' });
  fileId = await uploaded('kept.txt', CONTENT);
}

/** @returns the id of the file */
async function uploaded(name: string, content: string): Promise<string> {
  const body = new FormData();
  body.append('file', new Blob([content]), name);
  const path = `/p/${project.slug}/storage/buckets/box/upload`;
  return (await service().send('POST', path, { body })).body.data.id;
}

it('restores a lost machine to the moment before a mistake', async () => {
  await start('data');
  await fill('data');
  const made = await expectSuccess(documented(BACK_UP, 'data'));
  expect(made).toContain('The backup is intact.');
  await sql('data', `insert into notes (text) values ('after the backup')`);
  laterId = await uploaded('later.txt', `later ${CONTENT}`);
  const [now] = await sql(
    'data',
    `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as time`,
  );
  await sql('data', `update notes set text = 'wrong'`);
  await sql('data', 'alter table notes drop column n');
  await archived('data');
  await plinth.end('SIGKILL');
  rmSync(dataDir('data'), { recursive: true, maxRetries: 10, retryDelay: 200 });

  await expectSuccess(documented(RESTORE_UNTIL, 'restored', String(now?.time)));
  await start('restored');
  expect(await notes()).toEqual(['before the backup', 'after the backup']);
  const file = await service().get(`/p/${project.slug}/storage/files/${fileId}/download`);
  expect([file.status, file.text === CONTENT]).toEqual([200, true]);
  // The file was stored after the backup, so its row is in the log, and its bytes are in the archive of files.
  const later = await service().get(`/p/${project.slug}/storage/files/${laterId}/download`);
  expect([later.status, later.text === `later ${CONTENT}`]).toEqual([200, true]);
}, 400_000);

it('archives the restored install too, until it is stopped, and reports an archive that cannot be written', async () => {
  await sql('restored', `insert into notes (text) values ('after the restore')`);
  await diagnosed('restored', {
    status: 'ok',
    message: expect.stringMatching(/ is at most \d+ MiB .* behind$/),
  });
  await plinth.end('SIGTERM');
  const away = `${archive}-away`;
  renameSync(archive, away);
  writeFileSync(archive, 'no directory');
  await start('restored');
  await sql('restored', `insert into notes (text) values ('after a start')`);
  await diagnosed('restored', {
    status: 'failed',
    message: expect.stringMatching(/not archived now; \d+ MiB wait/),
    remedy: expect.stringContaining(archive),
  });
  rmSync(archive);
  renameSync(away, archive);
  await diagnosed('restored', { status: 'ok' });
  await plinth.end('SIGTERM');
  await expectSuccess(cli('again', 'restore', 'install.tar.gz', '--until', 'latest'));
  await start('again', { BACKUP_URL: `file://${at('scheduled')}`, BACKUP_PASSPHRASE: PASSPHRASE });
  const all = ['before the backup', 'after the backup', 'after the restore', 'after a start'];
  expect(await notes()).toEqual(all);
}, 400_000);

/** Runs a query on a restored install without Plinth. */
async function restoredRows(name: string, query: string): Promise<unknown[]> {
  const postgres = await EmbeddedPostgres.start({ dataDir: dataDir(name), settings: { fsync: 'off' } });
  try {
    const url = new URL(postgres.url);
    url.pathname = `/plinth_${project.id}`;
    return (await withConnection({ connectionString: url.href }, (client) => client.query(query))).rows;
  } finally {
    await postgres.stop();
  }
}

it('restores the moment of the backup; a killed restore leaves nothing that starts, and can be repeated', async () => {
  const mark = join(dataDir('killed'), 'restore-unfinished');
  const begin = (input: string): Program =>
    Program.start(process.execPath, [CLI, 'restore', input, '--physical'], {
      cwd: directory,
      env: environment('killed'),
    });
  for (let kill = 1; kill < KILLS; kill += 1) {
    const restore = begin('install.tar.gz');
    const stage = join(dataDir('killed'), STAGES[kill % STAGES.length] as string);
    await until(() => existsSync(stage) || !restore.isRunning, 60_000);
    await restore.end('SIGKILL');
    // On a slow machine the restore may have ended before.
    if (!existsSync(mark)) rmSync(dataDir('killed'), { recursive: true, maxRetries: 10, retryDelay: 200 });
  }
  const waiting = begin('-');
  const archived = readFileSync(at('install.tar.gz'));
  // The restore may be killed before it has read all of this.
  waiting.child.stdin?.on('error', () => undefined);
  waiting.child.stdin?.write(archived.subarray(0, archived.length / 2));
  await until(() => existsSync(join(dataDir('killed'), 'postgres')), 60_000);
  await waiting.end('SIGKILL');
  expect(existsSync(mark)).toBe(true);
  await expect(start('killed')).rejects.toThrow(
    /A restore into .* was interrupted: run plinth restore again/,
  );
  const report = await expectSuccess(documented(RESTORE, 'killed'));
  expect(report).toMatch(/^files +1$/m);
  expect(existsSync(mark)).toBe(false);
  expect(await restoredRows('killed', 'select text from notes')).toEqual([{ text: 'before the backup' }]);
}, 240_000);

it.each<[string, string, string[], RegExp]>([
  ['a directory with content', 'killed', ['install.tar.gz', '--physical'], /killed is not empty/],
  [
    'another passphrase',
    'empty',
    ['install.tar.gz', '--physical', '--passphrase-file', 'other'],
    /passphrase/,
  ],
  ['a truncated archive', 'empty', ['cut.tar.gz', '--physical'], /not an intact backup/],
  ['an altered archive', 'empty', ['altered.tar.gz', '--physical'], /not an intact backup/],
  [
    'a time after the last change',
    'empty',
    ['install.tar.gz', '--until', '2999-01-01T00:00:00Z'],
    /no change after/,
  ],
  [
    'a time before the backup',
    'empty',
    ['install.tar.gz', '--until', '2001-01-01T00:00:00Z'],
    /not complete before/,
  ],
  ['a time without its zone', 'empty', ['install.tar.gz', '--until', '2026-01-01 00:00'], /with its zone/],
])(
  'refuses %s, and does not change the directory',
  async (_what, name, args, message) => {
    writeFileSync(at('other'), 'another passphrase');
    const whole = readFileSync(at('install.tar.gz'));
    writeFileSync(at('cut.tar.gz'), whole.subarray(0, whole.length / 2));
    const altered = Buffer.from(whole);
    altered[Math.floor(whole.length / 2)] = (altered[Math.floor(whole.length / 2)] ?? 0) ^ 1;
    writeFileSync(at('altered.tar.gz'), altered);
    const content = (): string[] => (existsSync(dataDir(name)) ? readdirSync(dataDir(name)).sort() : []);
    const before = content();
    const { code, err } = await cli(name, 'restore', ...args);
    expect(err).toMatch(message);
    expect([code === 0, content()]).toEqual([false, before]);
  },
  120_000,
);

it('makes physical backups by schedule, keeps the newest, and removes log files that no backup needs', async () => {
  const destination = at('scheduled');
  const runs = async (): Promise<{ status: string; archive: string; removed_at: string | null }[]> =>
    (await admin('again').get('/admin/v1/backups/runs?project_id=physical')).body;
  const segments = (): string[] =>
    readdirSync(archive, { recursive: true, encoding: 'utf8' }).flatMap(
      (name) => /[0-9A-F]{24}$/.exec(name)?.[0] ?? [],
    );
  expect((await cli('again', 'backup', 'run', '--physical')).code).not.toBe(0);
  await expectSuccess(cli('again', ...'backup schedule --physical --at 3 --keep 1'.split(' ')));
  for (let count = 1; count <= 2; count += 1) {
    await expectSuccess(cli('again', 'backup', 'run', '--physical'));
    await eventually(async () => {
      const found = await runs();
      expect(found.filter(({ status }) => status === 'succeeded')).toHaveLength(count);
      expect(found.filter(({ removed_at }) => removed_at !== null)).toHaveLength(count - 1);
    }, 120_000);
    await sql(
      'again',
      `create table filler_${count} as select md5(n::text) from generate_series(1, 250000) n`,
    );
    await archived('again');
  }
  const [newest] = await runs();
  const found = readdirSync(destination, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.tar.gz'),
  );
  expect(found).toEqual([expect.stringContaining(newest?.archive ?? '-')]);
  const file = join(destination, found[0] ?? '');
  const report = await expectSuccess(cli('again', 'backup', 'verify', '--physical', file));
  const first = /first_wal_file +(\w+)/.exec(report)?.[1] ?? '';
  await eventually(
    async () =>
      expect(
        segments()
          .sort()
          .map((name) => name >= first),
      ).not.toContain(false),
    30_000,
  );
  expect(segments()).toContain(first);
  expect(await expectSuccess(cli('again', 'backup', 'rehearse', '--physical'))).toMatch(/physical +restored/);
  await plinth.end('SIGTERM');

  await expectSuccess(cli('pruned', 'restore', file, '--until', 'latest'));
  const count = await restoredRows('pruned', 'select count(*)::int as count from filler_2');
  expect(count).toEqual([{ count: 250_000 }]);
}, 400_000);

(IN_SOAK ? it : it.skip)(
  'restores backups from before and during a change of the master key, also to a time after it',
  async () => {
    const keys = async (name: string): Promise<unknown> => {
      const { status, body } = await admin(name).get(`/admin/v1/projects/${project.id}/keys`);
      expect(status).toBe(200);
      return body;
    };
    const key = (name: string, file = 'master-key'): string => join(dataDir(name), file);
    const backUp = (file: string): Promise<string> =>
      expectSuccess(cli('again', 'backup', '--physical', '-o', file));
    await start('again');
    const before = await keys('again');
    await backUp('old-key.tar.gz');
    await expectSuccess(cli('again', 'backup', project.slug, '-o', 'project.tar.gz'));
    await plinth.end('SIGTERM');
    renameSync(key('again'), key('again', 'master-key-other'));
    writeFileSync(key('again'), 'n'.repeat(40), { mode: 0o600 });
    await start('again');
    await backUp('both-keys.tar.gz');
    await eventually(async () => {
      const { body } = await admin('again').post('/admin/v1/doctor', {});
      const found = (body.findings as { check: string }[]).find(({ check }) => check === 'master_key');
      expect(found).toMatchObject({ message: 'no secret is encrypted under MASTER_KEY_OTHER' });
    }, 60_000);
    await plinth.end('SIGTERM');
    rmSync(key('again', 'master-key-other'));
    await start('again');
    // A project's archive does not depend on the key.
    await expectSuccess(cli('again', 'restore', 'project.tar.gz', '--as', 'copy'));
    await archived('again');
    await plinth.end('SIGTERM');

    const restored = async (name: string, file: string, ...args: string[]): Promise<void> => {
      await expectSuccess(cli(name, 'restore', `${file}.tar.gz`, ...args));
    };
    const serves = async (name: string): Promise<void> => {
      await start(name, { WAL_ARCHIVE_DIR: '' });
      expect(await keys(name)).toEqual(before);
      await plinth.end('SIGTERM');
    };
    for (const file of ['old-key', 'both-keys']) {
      await restored(file, file, '--physical');
      await serves(file);
      expect(existsSync(key(file, 'master-key-other'))).toBe(file === 'both-keys');
    }
    // The log has the change of the key, and the backup has the key from before it.
    await restored('later', 'old-key', '--until', 'latest');
    await expect(start('later', { WAL_ARCHIVE_DIR: '' })).rejects.toThrow(/MASTER_KEY/);
    renameSync(key('later'), key('later', 'master-key-other'));
    writeFileSync(key('later'), 'n'.repeat(40), { mode: 0o600 });
    await serves('later');
  },
  400_000,
);
