// The embedded PostgreSQL: first start, restart, kills at critical moments, mistakes of administrators.
import { spawnSync } from 'node:child_process';
import {
  appendFile,
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import {
  EmbeddedPostgres,
  type EmbeddedPostgresOptions,
} from '../../src/database/embedded/embedded-postgres';
import { EmbeddedPostgresError } from '../../src/database/embedded/embedded-postgres.error';
import { copyCluster } from './support/first-start';
import { isAlive, processesWith, Program, ROOT, until, withDirectory } from './support/processes';

const HOLDER = path.join(__dirname, 'support/postgres-holder.cjs');
/** `nobody`, which exists on every system where root runs tests. */
const ORDINARY_USER = { uid: 65534, gid: 65534 };

const asOrdinaryUser: [string, ...string[]] = [
  'setpriv',
  `--reuid=${ORDINARY_USER.uid}`,
  `--regid=${ORDINARY_USER.gid}`,
  '--clear-groups',
];

/** Root can switch to an ordinary user, but that user cannot read a clone below /root. */
function ordinaryUserReadsClone(): boolean {
  const [command, ...args] = asOrdinaryUser;
  return spawnSync(command, [...args, 'test', '-r', HOLDER]).status === 0;
}

const itAsRoot = process.getuid?.() === 0 ? it : it.skip;
const itAsOrdinaryUser = ordinaryUserReadsClone() ? it : it.skip;
const itOnLinux = process.platform === 'linux' ? it : it.skip;

interface Holder {
  program: Program;
  postmaster: number;
  url: string;
}

function startHolder(dataDir: string, node: [string, ...string[]] = [process.execPath]): Program {
  const [command, ...args] = node;
  return Program.start(command, [...args, HOLDER, path.join(ROOT, 'dist'), dataDir]);
}

async function runningHolder(dataDir: string): Promise<Holder> {
  const program = startHolder(dataDir);
  const [, postmaster, url] = await program.says(/READY (\d+) (\S+)/);
  return { program, postmaster: Number(postmaster), url: url as string };
}

/** A data directory with a cluster that was stopped cleanly, copied because that is faster than initdb. */
async function withCluster(work: (dataDir: string) => Promise<void>): Promise<void> {
  await withDirectory(async (directory) => {
    const dataDir = path.join(directory, 'data');
    await copyCluster(dataDir);
    await work(dataDir);
  });
}

async function query<T>(url: string, text: string): Promise<T[]> {
  const client = new Client(url);
  await client.connect();
  try {
    return (await client.query(text)).rows as T[];
  } finally {
    await client.end();
  }
}

/** Starts PostgreSQL, runs the work, and stops PostgreSQL even if the work fails. */
async function withPostgres<T>(
  options: EmbeddedPostgresOptions,
  work: (postgres: EmbeddedPostgres) => Promise<T>,
): Promise<T> {
  const postgres = await EmbeddedPostgres.start(options);
  try {
    return await work(postgres);
  } finally {
    await postgres.stop();
  }
}

async function faultOfStart(options: EmbeddedPostgresOptions): Promise<string> {
  const error = await EmbeddedPostgres.start(options).then(
    () => new Error('it started'),
    (reason: Error) => reason,
  );
  expect(error).toBeInstanceOf(EmbeddedPostgresError);
  expect(error.message).not.toContain('\n');
  return error.message;
}

const createTable = (url: string): Promise<unknown> =>
  query(url, 'create table kept as select generate_series(1, 1000) as n');

const countKept = async (url: string): Promise<number> =>
  (await query<{ count: number }>(url, 'select count(*)::int from kept'))[0]?.count ?? 0;

describe('EmbeddedPostgres', () => {
  it('creates a cluster on the first start and keeps its data over a restart', () =>
    withDirectory(async (directory) => {
      const dataDir = path.join(directory, "with a space and an apostrophe's data");
      const steps: string[] = [];
      const onProgress = (message: string): number => steps.push(message);
      await withPostgres({ dataDir, onProgress }, ({ url }) => createTable(url));
      expect(steps).toEqual(['Creating the database (first start, a few seconds) ...']);
      await withPostgres({ dataDir, onProgress }, async ({ url }) => expect(await countKept(url)).toBe(1000));
      expect(steps).toHaveLength(1);
      expect((await readdir(dataDir)).sort()).toEqual(['postgres', 'postgres.log', 'postgres.password']);
    }));

  it('admits clients by its own rules, and leaves pg_hba.conf to other versions', () =>
    withCluster(async (dataDir) => {
      const file = path.join(dataDir, 'postgres/pg_hba.conf');
      await writeFile(file, 'host all all 127.0.0.1/32 trust\n');
      await withPostgres({ dataDir }, async ({ url }) => {
        expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
        const wrong = url.replace(/:[^:@]+@/, ':wrong@');
        await expect(query(wrong, 'select 1')).rejects.toMatchObject({ code: '28P01' });
      });
      expect(await readFile(file, 'utf8')).toBe('host all all 127.0.0.1/32 trust\n');
    }));

  describe('a running server', () => {
    let directory: string;
    let dataDir: string;
    let postgres: EmbeddedPostgres;

    beforeAll(async () => {
      directory = await mkdtemp(path.join(tmpdir(), 'plinth-process-'));
      dataDir = path.join(directory, 'data');
      await copyCluster(dataDir);
      const settings = { work_mem: '7MB', application_name: "it's \\ here" };
      postgres = await EmbeddedPostgres.start({ dataDir, settings });
    });
    afterAll(async () => {
      await postgres.stop();
      await rm(directory, { recursive: true, force: true });
    });

    it('uses UTF-8, folds case beyond ASCII, is durable, and applies settings', async () => {
      const [row] = await query(
        postgres.url,
        `select current_setting('server_encoding') as encoding, lower('ÄÖŁ') as lower,
           current_setting('fsync') as fsync, current_setting('work_mem') as work_mem,
           current_setting('application_name') as name, current_setting('max_connections') as connections,
           current_setting('server_version_num')::int / 10000 as major`,
      );
      expect(row).toEqual({
        encoding: 'UTF8',
        lower: 'äöł',
        fsync: 'on',
        work_mem: '7MB',
        name: "it's \\ here",
        connections: '300',
        major: 18,
      });
    });

    it('listens on the loopback address and its own socket only, and requires the password', async () => {
      const { url, socketDirectory } = postgres;
      const [row] = await query(
        url,
        `select current_setting('listen_addresses') as addresses, current_setting('unix_socket_directories') as sockets`,
      );
      expect(row).toEqual({ addresses: '127.0.0.1', sockets: '.' });
      expect(socketDirectory).toBe(path.join(dataDir, 'postgres'));
      expect((await stat(socketDirectory as string)).mode & 0o077).toBe(0);
      const socket = new URL(url);
      socket.searchParams.set('host', socketDirectory as string);
      expect(await query(socket.href, 'select inet_client_addr() as address')).toEqual([{ address: null }]);
      for (const wrong of [new URL(url), socket]) {
        wrong.password = 'postgres';
        await expect(query(wrong.href, 'select 1')).rejects.toMatchObject({ code: '28P01' });
      }
      expect((await stat(path.join(dataDir, 'postgres.password'))).mode & 0o777).toBe(0o600);
    });

    itOnLinux('syncs the whole file system after a crash, whatever the number of files', async () => {
      expect(await query(postgres.url, 'show recovery_init_sync_method')).toEqual([
        { recovery_init_sync_method: 'syncfs' },
      ]);
    });

    itOnLinux('does not pass its environment to PostgreSQL', async () => {
      const names = (await readFile(`/proc/${postgres.pid}/environ`, 'utf8'))
        .split('\0')
        .map((line) => line.split('=')[0]);
      expect(names).not.toContain('HOME');
      expect(names).toEqual(expect.arrayContaining(['PATH', 'TZ']));
    });

    it('reports that PostgreSQL has ended by itself', async () => {
      process.kill(postgres.pid, 'SIGINT');
      expect(await postgres.exited).toEqual({ code: 0, signal: null });
    });
  });

  it('works without a socket if none can be created', () =>
    withCluster((dataDir) =>
      // Like a file system without sockets: PostgreSQL refuses a path that is longer than the system's limit.
      withPostgres(
        { dataDir, settings: { unix_socket_directories: `/tmp/${'a'.repeat(110)}` } },
        async (postgres) => {
          expect(postgres.socketDirectory).toBeNull();
          expect(await query(postgres.url, 'select 1 as one')).toEqual([{ one: 1 }]);
        },
      ),
    ));

  it('does not use a socket whose directory an administrator changed', () =>
    withCluster((dataDir) =>
      withPostgres({ dataDir, settings: { unix_socket_directories: '' } }, async (postgres) => {
        expect(postgres.socketDirectory).toBeNull();
      }),
    ));

  it('does not write statements of clients or their values to its log, which remains small', () =>
    withCluster(async (dataDir) => {
      const log = path.join(dataDir, 'postgres.log');
      await withPostgres({ dataDir, logCheckMs: 20 }, async ({ url }) => {
        await expect(query(url, `select 'a secret'::int`)).rejects.toThrow('a secret');
        expect(await readFile(log, 'utf8')).not.toContain('secret');
        // A large log is emptied while PostgreSQL runs, which appends to it.
        await appendFile(log, `${'x'.repeat(99)}\n`.repeat(110_000));
        await until(async () => (await stat(log)).size < 1_000_000);
        expect((await stat(`${log}.1`)).size).toBeGreaterThan(11_000_000);
        await expect(query(url.replace(/:[^:@]+@/, ':wrong@'), 'select')).rejects.toThrow('password');
        const written = await readFile(log, 'utf8');
        expect(written).toMatch(/^2.*FATAL: +password authentication failed/m);
        expect(written).not.toContain('xxx');
      });
    }));

  describe('as root', () => {
    itAsRoot('works in a directory that only root may enter', () =>
      withDirectory(async (directory) => {
        await chmod(directory, 0o700);
        const dataDir = path.join(directory, 'plinth', 'data');
        await mkdir(dataDir, { recursive: true });
        await withPostgres({ dataDir }, ({ url }) => createTable(url));
        await withPostgres({ dataDir }, async ({ url }) => expect(await countKept(url)).toBe(1000));
        expect((await stat(path.join(dataDir, 'postgres'))).uid).not.toBe(0);
      }),
    );

    itAsRoot('corrects owner and mode of a cluster that was restored from a backup', () =>
      withCluster(async (dataDir) => {
        const clusterDir = path.join(dataDir, 'postgres');
        await withPostgres({ dataDir }, ({ url }) => createTable(url));
        await giveToRoot(clusterDir);
        await chmod(clusterDir, 0o755);
        await withPostgres({ dataDir }, async ({ url }) => expect(await countKept(url)).toBe(1000));
      }),
    );
  });

  describe('as an ordinary user', () => {
    itAsOrdinaryUser('works in its own directory', () =>
      withDirectory(async (directory) => {
        await chmod(directory, 0o755);
        const dataDir = path.join(directory, 'data');
        await mkdir(dataDir, { mode: 0o700 });
        await chown(dataDir, ORDINARY_USER.uid, ORDINARY_USER.gid);
        const holder = startHolder(dataDir, [...asOrdinaryUser, process.execPath]);
        const [, , url] = await holder.says(/READY (\d+) (\S+)/);
        expect(await query(url as string, 'select 1 as one')).toEqual([{ one: 1 }]);
        await holder.end('SIGTERM');
        expect((await stat(path.join(dataDir, 'postgres'))).uid).toBe(ORDINARY_USER.uid);
        await until(async () => !(await readdir(path.join(dataDir, 'postgres'))).includes('postmaster.pid'));
      }),
    );

    itAsOrdinaryUser('refuses a cluster of another user in one line', () =>
      withDirectory(async (directory) => {
        await chmod(directory, 0o755);
        const dataDir = path.join(directory, 'data');
        await mkdir(path.join(dataDir, 'postgres'), { recursive: true });
        await chmod(dataDir, 0o777);
        const holder = startHolder(dataDir, [...asOrdinaryUser, process.execPath]);
        await holder.exited;
        expect(holder.output).toMatch(/^EmbeddedPostgresError: .* belongs to another user \(uid 0\).*\n$/);
      }),
    );
  });

  describe('when processes are killed', () => {
    it('stops PostgreSQL cleanly when Node is killed with SIGKILL, and keeps committed data', () =>
      withCluster(async (dataDir) => {
        const { program, postmaster, url } = await runningHolder(dataDir);
        await createTable(url);
        await program.end('SIGKILL');
        await until(() => !isAlive(postmaster));
        expect(await readFile(path.join(dataDir, 'postgres.log'), 'utf8')).toMatch(
          /database system is shut down\n$/,
        );
        await withPostgres({ dataDir }, async (postgres) => expect(await countKept(postgres.url)).toBe(1000));
      }));

    itOnLinux('leaves no process behind, not even the watcher', () =>
      withCluster(async (dataDir) => {
        const { program, url } = await runningHolder(dataDir);
        const port = `port=${new URL(url).port} `;
        expect(processesWith(port).length).toBeGreaterThanOrEqual(2);
        await program.end('SIGKILL');
        await until(() => processesWith(port).filter(isAlive).length === 0);
      }),
    );

    it('recovers after all processes were killed, with a stale postmaster.pid', () =>
      withCluster(async (dataDir) => {
        const { program, postmaster, url } = await runningHolder(dataDir);
        await createTable(url);
        process.kill(postmaster, 'SIGKILL');
        await program.end('SIGKILL');
        const clusterDir = path.join(dataDir, 'postgres');
        const left = `.s.PGSQL.${new URL(url).port}`;
        expect(await readdir(clusterDir)).toEqual(expect.arrayContaining(['postmaster.pid', left]));
        await withPostgres({ dataDir }, async (postgres) => {
          expect(await countKept(postgres.url)).toBe(1000);
          const socket = `.s.PGSQL.${new URL(postgres.url).port}`;
          const sockets = (await readdir(clusterDir)).filter((name) => name.startsWith('.s.'));
          expect(sockets.sort()).toEqual([socket, `${socket}.lock`]);
        });
      }));

    itOnLinux('starts when the pid in the lock file now belongs to another process of the same user', () =>
      withCluster(async (dataDir) => {
        await withPostgres({ dataDir }, ({ url }) => createTable(url));
        const clusterDir = path.join(dataDir, 'postgres');
        const { uid, gid } = await stat(clusterDir);
        const other = await strangerOf(uid, gid);
        const lockFile = path.join(clusterDir, 'postmaster.pid');
        await writeFile(lockFile, `${other.pid}\n${clusterDir}\n1\n5432\n\n\n0 0\nready   \n`);
        await chown(lockFile, uid, gid);
        await withPostgres({ dataDir }, async ({ url }) => expect(await countKept(url)).toBe(1000));
        expect(other.isRunning).toBe(true);
        await other.end();
      }),
    );

    it('starts when a full disk left an empty lock file', () =>
      withCluster(async (dataDir) => {
        await withPostgres({ dataDir }, ({ url }) => createTable(url));
        await writeFile(path.join(dataDir, 'postgres', 'postmaster.pid'), '');
        await withPostgres({ dataDir }, async ({ url }) => expect(await countKept(url)).toBe(1000));
      }));

    itOnLinux('ends a PostgreSQL that is still running because its watcher was killed too', () =>
      withCluster(async (dataDir) => {
        const { program, postmaster, url } = await runningHolder(dataDir);
        await createTable(url);
        const port = `port=${new URL(url).port} `;
        const watchers = processesWith(port).filter((pid) => pid !== postmaster);
        watchers.forEach((pid) => process.kill(pid, 'SIGKILL'));
        await program.end('SIGKILL');
        expect(isAlive(postmaster)).toBe(true);
        await withPostgres({ dataDir }, async (postgres) => {
          expect(isAlive(postmaster)).toBe(false);
          expect(await countKept(postgres.url)).toBe(1000);
        });
      }),
    );

    it('recreates the cluster after an interrupted creation', () =>
      withDirectory(async (dataDir) => {
        const program = startHolder(dataDir);
        const unfinished = async (): Promise<string[]> =>
          (await readdir(dataDir)).filter((name) => /^\.postgres-unfinished-(?!password)/.test(name));
        await until(async () => {
          const [name] = await unfinished();
          return name !== undefined && (await readdir(path.join(dataDir, name))).includes('base');
        });
        await program.end('SIGKILL');
        expect(await readdir(dataDir)).not.toContain('postgres');
        await withPostgres({ dataDir }, ({ url }) => createTable(url));
        expect(await unfinished()).toEqual([]);
      }));
  });

  describe('faults that an administrator can correct', () => {
    it('names the two versions when the cluster is of another major version', () =>
      withCluster(async (dataDir) => {
        await writeFile(path.join(dataDir, 'postgres', 'PG_VERSION'), '17\n');
        expect(await faultOfStart({ dataDir })).toMatch(
          /made by PostgreSQL 17, and this Plinth brings PostgreSQL 18/,
        );
      }));

    it('names the port if the requested one is in use', () =>
      withCluster(async (dataDir) => {
        const server = createServer();
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        const { port } = server.address() as { port: number };
        expect(await faultOfStart({ dataDir, port })).toBe(
          `Port ${port} on 127.0.0.1, the embedded PostgreSQL's, is taken: stop what listens there, ` +
            'or set EMBEDDED_DATABASE_PORT to a free port.',
        );
        server.close();
      }));

    it('reports the reason if PostgreSQL does not start', () =>
      withCluster(async (dataDir) => {
        const fault = await faultOfStart({ dataDir, settings: { max_connections: 'many' } });
        expect(fault).toMatch(/^PostgreSQL does not start: .*postgres\.log\)\.$/);
      }));

    it('does not change a directory that is not a cluster', () =>
      withDirectory(async (dataDir) => {
        await mkdir(path.join(dataDir, 'postgres'));
        await writeFile(path.join(dataDir, 'postgres', 'thesis.txt'), 'mine');
        expect(await faultOfStart({ dataDir })).toContain('holds no PostgreSQL database');
        expect(await readdir(path.join(dataDir, 'postgres'))).toEqual(['thesis.txt']);
      }));
  });
});

/** An unrelated process of the user. */
async function strangerOf(uid: number, gid: number): Promise<Program> {
  const shell = ['-c', 'echo here; read -r word'];
  const stranger =
    process.getuid?.() === 0
      ? Program.start('setpriv', [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', 'sh', ...shell])
      : Program.start('sh', shell);
  await stranger.says(/here/);
  return stranger;
}

async function giveToRoot(directory: string): Promise<void> {
  await chown(directory, 0, 0);
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    await chown(path.join(entry.parentPath, entry.name), 0, 0);
  }
}
