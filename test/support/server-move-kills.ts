/**
 * kill -9 of the process that moves a project between two PostgreSQL servers, under writes and reads through another
 * process. After each kill the move is finished or undone, the project serves, and no acknowledged write is lost.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';
import { withConnection } from '../../src/database/pools/one-off-connection';
import { eventually } from './eventually';
import { type HttpAnswer, HttpClient } from './http-client';
import { MoveLoad } from './move-load';
import type { DatabaseAccess } from './owner-connection';
import { PlinthProcess } from './plinth-process';

const SETTINGS = { fsync: 'off' };
/** Milliseconds within which another process, or the next start, ends an interrupted move. */
const SETTLED_MS = 120_000;

export class ServerMoveKills {
  private readonly directory = mkdtempSync(join(tmpdir(), 'plinth-server-move-'));

  /** @param rows of about 150 bytes, with their indexes */
  constructor(private readonly rows: number) {}

  private servers!: { platform: EmbeddedPostgres; db2: EmbeddedPostgres };
  /** Moves projects, and is killed. */
  private mover!: PlinthProcess;
  /** Serves all the while. */
  private witness!: PlinthProcess;
  private project!: { id: string; anon_key: string };
  private load!: MoveLoad;
  /** Milliseconds that a move takes. */
  private duration = 0;
  readonly counts = { kills: 0, done: 0, failed: 0, acknowledged: 0 };
  /** Of undisturbed moves and of kills, in milliseconds. */
  readonly gaps = { moveWrite: 0, moveRead: 0, killWrite: 0, killRead: 0, refused: 0 };

  async setUp(): Promise<void> {
    const start = (name: string): Promise<EmbeddedPostgres> =>
      EmbeddedPostgres.start({ dataDir: join(this.directory, name), settings: SETTINGS });
    this.servers = { platform: await start('platform'), db2: await start('db2') };
    this.witness = await this.startProcess();
    this.mover = await this.startProcess();
    const { admin } = this.witness;
    const added = await admin.post('/admin/v1/servers', { name: 'db2', url: this.servers.db2.url });
    expect(added.status).toBe(201);
    const created = await admin.post('/admin/v1/projects', {
      name: 'Moving',
      plan: 'enterprise',
      server: 'platform',
    });
    this.project = created.body;
    await this.sql(`create table notes (id bigint primary key, via text);
      create policy everybody on notes to anon using (true) with check (true);
      create table ballast as select n, md5(n::text) from generate_series(1, ${this.rows}) n;
      alter table ballast add primary key (n); create index on ballast (md5)`);
    const key = this.project.anon_key;
    const client = new HttpClient(this.witness.baseUrl, { apikey: key, authorization: `Bearer ${key}` });
    this.load = new MoveLoad([client.unchecked()], await this.access(), 2);
    await this.load.start();
    await this.load.written(50);
    const begun = performance.now();
    await this.moveUndisturbed();
    this.duration = performance.now() - begun;
  }

  async tearDown(): Promise<void> {
    await this.load?.stop();
    await Promise.all([this.mover?.end('SIGKILL'), this.witness?.end('SIGKILL')]);
    await Promise.all(Object.values(this.servers ?? {}).map((server) => server.stop()));
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }

  async moveUndisturbed(): Promise<void> {
    this.load.longest.write = this.load.longest.read = 0;
    await this.begin();
    const outcome = await this.settled();
    expect([outcome.status, outcome.error]).toEqual(['done', null]);
    await this.load.restartOwner(await this.access());
    await this.load.written(20);
    this.gaps.moveWrite = Math.max(this.gaps.moveWrite, this.load.longest.write);
    this.gaps.moveRead = Math.max(this.gaps.moveRead, this.load.longest.read);
    this.gaps.refused = Math.max(this.gaps.refused, outcome.writes_refused_ms as number);
    await this.assertWhole();
  }

  async kill(): Promise<void> {
    this.load.longest.write = this.load.longest.read = 0;
    await this.begin();
    await sleep(Math.random() * this.duration * 1.2);
    await this.mover.end('SIGKILL');
    this.mover = await this.startProcess();
    const { status } = await this.settled();
    this.counts.kills += 1;
    this.counts[status as 'done' | 'failed'] += 1;
    await this.load.restartOwner(await this.access());
    await this.load.written(20);
    this.gaps.killWrite = Math.max(this.gaps.killWrite, this.load.longest.write);
    this.gaps.killRead = Math.max(this.gaps.killRead, this.load.longest.read);
    await this.assertWhole();
  }

  private async assertNoSlot(url: string): Promise<void> {
    const { rows } = await withConnection({ connectionString: url }, (client) =>
      client.query('select slot_name from pg_replication_slots'),
    );
    expect(rows).toEqual([]);
  }

  private startProcess(): Promise<PlinthProcess> {
    const database = new URL(this.servers.platform.url);
    database.pathname = '/plinth';
    const env = { DATABASE_URL: database.href, MASTER_KEY: 'moves-master-key-0123456789-0123456789' };
    return PlinthProcess.start({ dataDir: this.directory, env });
  }

  private async begin(): Promise<void> {
    const to = (await this.place()) === 'platform' ? 'db2' : 'platform';
    const answer = await this.mover.admin.post(`${this.path}/move`, { server: to });
    expect([answer.status, answer.text]).toEqual([202, expect.any(String)]);
  }

  private get path(): string {
    return `/admin/v1/projects/${this.project.id}`;
  }

  private async place(): Promise<'platform' | 'db2'> {
    return (await this.witness.admin.get(this.path)).body.server;
  }

  private async settled(): Promise<HttpAnswer['body']> {
    const read = (): Promise<HttpAnswer> => this.witness.admin.get(`${this.path}/move`);
    await eventually(async () => expect((await read()).body.finished_at).not.toBeNull(), SETTLED_MS);
    return (await read()).body;
  }

  private async access(): Promise<DatabaseAccess> {
    return (await this.witness.admin.get(`${this.path}/database`)).body as DatabaseAccess;
  }

  private async sql(query: string): Promise<Record<string, unknown>[]> {
    const answer = await this.witness.admin.post(`${this.path}/sql`, { query });
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    return answer.body.rows;
  }

  /** The project is on one server, with everything acknowledged, and the other one has nothing of it. */
  private async assertWhole(): Promise<void> {
    expect(this.load.faults).toEqual([]);
    const acknowledged = [...this.load.acknowledged];
    const rows = await this.sql(`select string_agg(id::text, ',') as ids from notes`);
    const found = new Set(String(rows[0]?.ids).split(',').map(Number));
    expect(acknowledged.filter((id) => !found.has(id))).toEqual([]);
    expect(await this.sql('select count(*)::int as n from ballast')).toEqual([{ n: this.rows }]);
    expect(await this.sql('select pubname from pg_publication')).toEqual([]);
    for (const { url } of Object.values(this.servers)) await eventually(() => this.assertNoSlot(url));
    const other = (await this.place()) === 'platform' ? this.servers.db2 : this.servers.platform;
    const left = await withConnection({ connectionString: other.url }, (client) =>
      client.query(
        `select datname from pg_database where strpos(datname, $1) > 0
         union all select rolname from pg_roles where strpos(rolname, $1) > 0`,
        [this.project.id],
      ),
    );
    expect(left.rows).toEqual([]);
    this.counts.acknowledged = acknowledged.length;
  }
}
