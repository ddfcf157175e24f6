/** A PostgreSQL of the operating system (Debian's packages), of another major version than the embedded one. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serverUser } from '../../src/database/embedded/server-user';
import { withConnection } from '../../src/database/pools/one-off-connection';
import { freePort } from './plinth-process';

const ROOT = '/usr/lib/postgresql';
const PASSWORD = 'system-postgres';
const LIMIT_MS = 60_000;

/** Major versions that are installed, without those from `below` on. */
export function installedMajors(below: number): number[] {
  if (!existsSync(ROOT)) return [];
  const majors = readdirSync(ROOT).filter((name) => existsSync(join(ROOT, name, 'bin/initdb')));
  return majors.map(Number).filter((major) => major < below);
}

export class SystemPostgres {
  private constructor(
    /** The superuser's. */
    readonly url: string,
    private readonly directory: string,
    private readonly child: ChildProcess,
  ) {}

  static async start(major: number): Promise<SystemPostgres> {
    const directory = mkdtempSync(join(tmpdir(), `plinth-postgres-${major}-`));
    const cluster = join(directory, 'cluster');
    const user = await serverUser(cluster);
    if (user) chownSync(directory, user.uid, user.gid);
    chmodSync(directory, 0o755);
    const passwordFile = join(directory, 'password');
    writeFileSync(passwordFile, PASSWORD);
    const programs = join(ROOT, String(major), 'bin');
    const as = { cwd: directory, ...user };
    const options = ['-U', 'postgres', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`, '-E', 'UTF8'];
    execFileSync(join(programs, 'initdb'), ['-D', cluster, '--locale=C.UTF-8', ...options], {
      ...as,
      stdio: 'pipe',
    });
    const port = await freePort();
    const settings = [`port=${port}`, 'unix_socket_directories=', 'listen_addresses=127.0.0.1', 'fsync=off'];
    const args = settings.flatMap((setting) => ['-c', setting]);
    const child = spawn(join(programs, 'postgres'), ['-D', cluster, ...args], { ...as, stdio: 'ignore' });
    const url = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`;
    const server = new SystemPostgres(url, directory, child);
    await server.ready();
    return server;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const ended = new Promise((resolve) => this.child.once('exit', resolve));
      // Ends open sessions.
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
