/** Starts a PgBouncer in transaction mode before a server. Its tests are skipped if it is not installed (CI installs it). */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { eventually } from './eventually';
import { freePort } from './plinth-process';
import { asPostgres, type PostgresServer } from './postgres-server';

const PROGRAM = '/usr/sbin/pgbouncer';

export const hasPgBouncer = spawnSync(PROGRAM, ['--version']).status === 0;

export class PgBouncer {
  private constructor(
    private child: ChildProcess,
    private readonly url: URL,
    private readonly settings: string,
  ) {}

  /** @param directory for this PgBouncer only, which other users can enter @param others settings that replace its own */
  static async start(server: PostgresServer, directory: string, others = ''): Promise<PgBouncer> {
    const port = await freePort();
    const url = new URL(server.url);
    const users = join(directory, 'pgbouncer-users');
    const settings = join(directory, 'pgbouncer.ini');
    writeFileSync(users, `"${url.username}" "${url.password}"\n`, { mode: 0o644 });
    writeFileSync(settings, settingsOf(server, port, users, url.username) + others, { mode: 0o644 });
    const console = new URL(`postgres://${url.username}:${url.password}@127.0.0.1:${port}/pgbouncer`);
    const bouncer = new PgBouncer(run(settings), console, settings);
    await bouncer.answers();
    return bouncer;
  }

  /** Starts again after stop(), at the same address. */
  async startAgain(): Promise<void> {
    this.child = run(this.settings);
    await this.answers();
  }

  get address(): string {
    return this.url.host;
  }

  /** Number of transactions in a database through PgBouncer so far. */
  async transactionsOf(database: string): Promise<number> {
    const rows = await this.show('stats');
    return Number(rows.find((row) => row.database === database)?.total_xact_count ?? 0);
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await ended;
  }

  private async answers(): Promise<void> {
    await eventually(async () => void (await this.show('version')), 20_000);
  }

  private async show(what: string): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: this.url.href });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(`show ${what}`)).rows;
    } finally {
      await client.end();
    }
  }
}

const run = (settings: string): ChildProcess =>
  spawn(PROGRAM, [settings], { ...asPostgres, stdio: 'ignore' });

/** The settings that docs/reference/scaling.md requires. There are few connections, so that requests must share them. */
function settingsOf(server: PostgresServer, port: number, users: string, admin: string): string {
  const [host, serverPort] = server.address.split(':');
  return `[databases]
* = host=${host} port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
pool_mode = transaction
default_pool_size = 3
max_client_conn = 200
server_reset_query = discard all
server_reset_query_always = 1
auth_type = scram-sha-256
auth_file = ${users}
auth_user = ${admin}
auth_query = select usename, passwd from pg_catalog.pg_shadow where usename operator(pg_catalog.=) $1
admin_users = ${admin}
`;
}
