/**
 * Servers of the system's PostgreSQL (Debian's package) with streaming replication. Its tests are skipped if it is
 * not installed (CI installs it). PostgreSQL refuses to run as root, so root runs it as the user `postgres`.
 */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, type QueryResultRow } from 'pg';
import { eventually } from './eventually';
import { freePort } from './plinth-process';

const run = promisify(execFile);

const PACKAGES = '/usr/lib/postgresql';
const PASSWORD = 'streaming-secret';
const READY_MS = 30_000;
const SETTINGS = `
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
fsync = off
shared_buffers = 32MB
max_wal_senders = 6
hot_standby = on
wal_receiver_timeout = 5s
wal_retrieve_retry_interval = 100ms
`;

const PROGRAMS = newestPackage();
/** For programs that refuse to run as root. */
export const asPostgres: { uid?: number; gid?: number } =
  process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};

export const hasPostgres = PROGRAMS !== null && !Number.isNaN(asPostgres.uid ?? 0);

function newestPackage(): string | null {
  if (!existsSync(PACKAGES)) return null;
  const versions = readdirSync(PACKAGES)
    .map(Number)
    .sort((a, b) => b - a);
  const found = versions.map((version) => join(PACKAGES, String(version), 'bin'));
  return found.find((directory) => existsSync(join(directory, 'postgres'))) ?? null;
}

function idOf(option: '-u' | '-g'): number {
  const { status, stdout } = spawnSync('id', [option, 'postgres'], { encoding: 'utf8' });
  return status === 0 ? Number(stdout) : Number.NaN;
}

/** Each server has a separate process group. */
function childrenOf(pid: number): number[] {
  const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return list
    .split(' ')
    .filter((text) => text !== '')
    .map(Number);
}

export class PostgresServer {
  private child: ChildProcess | undefined;

  private constructor(
    private readonly directory: string,
    readonly port: number,
  ) {}

  /** @param parent an existing directory, which other users must be able to enter */
  static async primary(parent: string, settings = ''): Promise<PostgresServer> {
    const server = await PostgresServer.in(parent, 'primary');
    const passwordFile = join(parent, 'password');
    writeFileSync(passwordFile, PASSWORD, { mode: 0o644 });
    const options = ['-U', 'plinth', '--auth=scram-sha-256', `--pwfile=${passwordFile}`, '-E', 'UTF8'];
    await server.program('initdb', [...options, '--locale=C.UTF-8', '--no-sync']);
    writeFileSync(join(server.directory, 'postgresql.conf'), `${SETTINGS}\n${settings}\n`);
    await server.start();
    return server;
  }

  /** A standby that streams from this server. @param name the standby's application_name, for synchronous_standby_names */
  async addStandby(parent: string, name: string): Promise<PostgresServer> {
    const standby = await PostgresServer.in(parent, name);
    const source = `host=127.0.0.1 port=${this.port} user=plinth password=${PASSWORD} application_name=${name}`;
    await standby.program('pg_basebackup', [
      '-R',
      '-X',
      'stream',
      '--checkpoint=fast',
      '--no-sync',
      '-d',
      source,
    ]);
    await standby.start();
    return standby;
  }

  private static async in(parent: string, name: string): Promise<PostgresServer> {
    const directory = join(parent, name);
    mkdirSync(directory, { mode: 0o700 });
    if (asPostgres.uid !== undefined) chownSync(directory, asPostgres.uid, asPostgres.gid ?? asPostgres.uid);
    return new PostgresServer(directory, await freePort());
  }

  /** URL of the superuser. */
  get url(): string {
    return `postgres://plinth:${PASSWORD}@${this.address}/postgres`;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** A URL with the addresses of all these servers, one of which is the primary at any time. */
  static urlOf(servers: readonly PostgresServer[], database: string): string {
    const hosts = servers.map(({ address }) => address).join(',');
    return `postgres://plinth:${PASSWORD}@${hosts}/${database}?target_session_attrs=read-write`;
  }

  async start(): Promise<void> {
    const args = ['-D', this.directory, '-p', String(this.port)];
    this.child = spawn(join(PROGRAMS ?? '', 'postgres'), args, { ...asPostgres, stdio: 'ignore' });
    await eventually(async () => void (await this.query('select 1')), READY_MS);
  }

  /** Runs a query as the superuser. */
  async query<R extends QueryResultRow = QueryResultRow>(text: string, database = 'postgres'): Promise<R[]> {
    const url = new URL(this.url);
    url.pathname = `/${database}`;
    const client = new Client({ connectionString: url.href, connectionTimeoutMillis: 2_000 });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<R>(text)).rows;
    } finally {
      await client.end();
    }
  }

  /** Ends a standby's recovery. Resolves when it accepts writes. */
  async promote(): Promise<void> {
    await this.query('select pg_promote(true, 30)');
  }

  /** Ends all its processes immediately, as when the machine fails. */
  async kill(): Promise<void> {
    const ended = this.ended();
    this.signal('SIGKILL');
    await ended;
  }

  /** Sends a signal to all its processes. With SIGSTOP, connections remain open without responses. */
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    const pid = this.child?.pid;
    if (pid === undefined) return;
    for (const one of [pid, ...childrenOf(pid)]) {
      try {
        process.kill(one, signal);
      } catch (error) {
        // The server process has ended already.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    }
  }

  async stop(): Promise<void> {
    const ended = this.ended();
    this.child?.kill('SIGQUIT');
    await ended;
  }

  private async ended(): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    await new Promise((resolve) => child.once('exit', resolve));
  }

  private async program(name: string, args: readonly string[]): Promise<void> {
    await run(join(PROGRAMS ?? '', name), ['-D', this.directory, ...args], { ...asPostgres, cwd: '/' });
  }
}
