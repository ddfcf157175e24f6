/**
 * A project moves between two PostgreSQL servers under writes and reads through another process, and the process that moves it is
 * killed. After each kill the move is finished or undone, the project serves, and no acknowledged write is lost.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgres } from '../../../src/database/embedded/embedded-postgres';
import { withConnection } from '../../../src/database/pools/one-off-connection';
import { eventually } from '../eventually';
import { type HttpAnswer, HttpClient } from '../http-client';
import { MoveLoad } from '../move-load';
import type { DatabaseAccess } from '../owner-connection';
import { KilledInstall, type KilledProject, type Work } from './killed-install';

const SETTINGS = { fsync: 'off' };
/** Milliseconds within which another process, or the next start, ends an interrupted move. */
const SETTLED_MS = 120_000;

export class ServerMoveWork implements Work {
  readonly counts = { kills: 0, done: 0, failed: 0, acknowledged: 0 };
  /** Durations of undisturbed moves and of kills, in milliseconds. */
  readonly gaps = { moveWrite: 0, moveRead: 0, killWrite: 0, killRead: 0, refused: 0 };
  private servers!: { platform: EmbeddedPostgres; db2: EmbeddedPostgres };
  /** The process that moves projects, and is killed. */
  mover!: KilledInstall;
  /** The process that serves requests all the time. */
  private witness!: KilledInstall;
  private project!: KilledProject;
  private load!: MoveLoad;
  /** True if the latest move was accepted. */
  private begun = Promise.resolve();
  /** Milliseconds that an undisturbed move takes. */
  private duration = 0;

  /** @param rows number of rows, each of about 150 bytes, with their indexes */
  constructor(
    private readonly directory: string,
    private readonly rows: number,
  ) {}

  get acknowledged(): number {
    return this.load.acknowledged.length;
  }

  /** Resolves at a random moment of the move, or soon after it. */
  async moment(): Promise<void> {
    await this.begun;
    await sleep(Math.random() * this.duration * 1.2);
  }

  async prepare(): Promise<void> {
    const start = (name: string): Promise<EmbeddedPostgres> =>
      EmbeddedPostgres.start({ dataDir: join(this.directory, name), settings: SETTINGS });
    this.servers = { platform: await start('platform'), db2: await start('db2') };
    const database = new URL(this.servers.platform.url);
    database.pathname = '/plinth';
    const env = { DATABASE_URL: database.href, MASTER_KEY: 'moves-master-key-0123456789-0123456789' };
    this.witness = new KilledInstall(this.directory, env);
    this.mover = new KilledInstall(this.directory, env);
    await this.witness.start();
    await this.mover.start();
    const { admin } = this.witness;
    const added = await admin.post('/admin/v1/servers', { name: 'db2', url: this.servers.db2.url });
    expect(added.status).toBe(201);
    this.project = await this.witness.create('Moving', { server: 'platform' });
    await this.sql(`create table notes (id bigint primary key, via text);
      create policy everybody on notes to anon using (true) with check (true);
      create table ballast as select n, md5(n::text) from generate_series(1, ${this.rows}) n;
      alter table ballast add primary key (n); create index on ballast (md5)`);
    const key = this.project.anon_key;
    const client = new HttpClient(this.witness.plinth.baseUrl, {
      apikey: key,
      authorization: `Bearer ${key}`,
    });
    this.load = new MoveLoad([client.unchecked()], await this.access(), 2);
    await this.load.start();
    await this.load.written(50);
    const begun = performance.now();
    await this.moveUndisturbed();
    this.duration = performance.now() - begun;
  }

  async tearDown(): Promise<void> {
    await this.load?.stop();
    await Promise.all([this.mover?.kill(), this.witness?.kill()]);
    await Promise.all(Object.values(this.servers ?? {}).map((server) => server.stop()));
  }

  async moveUndisturbed(): Promise<void> {
    await this.run();
    const outcome = await this.settled();
    expect([outcome.status, outcome.error]).toEqual(['done', null]);
    await this.assertServed('moveWrite', 'moveRead');
    this.gaps.refused = Math.max(this.gaps.refused, outcome.writes_refused_ms as number);
    await this.assertWhole();
  }

  run(): Promise<void> {
    this.begun = this.begin();
    return this.begun;
  }

  private async begin(): Promise<void> {
    this.load.longest.write = this.load.longest.read = 0;
    const to = (await this.place()) === 'platform' ? 'db2' : 'platform';
    const answer = await this.mover.admin.post(`${this.path}/move`, { server: to });
    expect([answer.status, answer.text]).toEqual([202, expect.any(String)]);
  }

  async verify(): Promise<void> {
    const { status } = await this.settled();
    this.counts.kills += 1;
    this.counts[status as 'done' | 'failed'] += 1;
    await this.assertServed('killWrite', 'killRead');
    await this.assertWhole();
  }

  private async assertServed(write: 'moveWrite' | 'killWrite', read: 'moveRead' | 'killRead'): Promise<void> {
    await this.load.restartOwner(await this.access());
    await this.load.written(20);
    this.gaps[write] = Math.max(this.gaps[write], this.load.longest.write);
    this.gaps[read] = Math.max(this.gaps[read], this.load.longest.read);
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
    const answer = await this.witness.sql(this.project.id, query);
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    return answer.body.rows;
  }

  private async assertNoSlot(url: string): Promise<void> {
    const { rows } = await withConnection({ connectionString: url }, (client) =>
      client.query(`select slot_name from pg_replication_slots where slot_name ~ '^plinth_move'`),
    );
    expect(rows).toEqual([]);
  }

  /** Checks that the project is on one server with all acknowledged writes, and that the other server has nothing of it. */
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
