/**
 * kill -9 while Plinth restores, streams a backup, and makes a scheduled one, with writes all the time. After each restart
 * nothing acknowledged is lost, and a project that was being restored is whole or gone.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { get, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { verifyArchive } from '../../src/backup/archive/open-archive';
import { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres';
import { eventually } from './eventually';
import { HttpAnswer, HttpClient } from './http-client';
import { PlinthProcess } from './plinth-process';

const FILES = 4;
const PASSPHRASE = 'a passphrase for the test';
const HEADER = {
  'backup-passphrase': encodeURIComponent(PASSPHRASE),
  'content-type': 'application/gzip',
};
/** Milliseconds; another process takes a job over within 30 seconds. */
const RECOVERED_MS = 120_000;
/** Milliseconds after its start at which a backup is killed, at most. */
const SPREAD_MS = 1_500;

interface Created {
  readonly id: string;
  readonly slug: string;
  readonly service_role_key: string;
}

interface Run {
  readonly status: string;
  readonly archive: string;
  readonly bytes: number;
  readonly removed_at: string | null;
}

type Kind = 'restore' | 'stream' | 'schedule';
const KINDS: readonly Kind[] = ['restore', 'schedule', 'stream'];

/** Outcomes, for the report of a soak. */
export interface KillCounts {
  readonly kills: Record<Kind, number>;
  readonly restores: { whole: number; gone: number };
  acknowledged: number;
  readonly runs: Record<string, number>;
}

export class BackupKills {
  private readonly directory = mkdtempSync(join(tmpdir(), 'plinth-backup-kill-'));
  private readonly written: number[] = [];
  private plinth!: PlinthProcess;
  private db2: EmbeddedPostgres | undefined;
  /** On the server of the platform. */
  private neighbour!: Created;
  private witness!: Created;
  private target!: Created;
  private archive!: Buffer;
  readonly counts: KillCounts = {
    kills: { restore: 0, stream: 0, schedule: 0 },
    restores: { whole: 0, gone: 0 },
    acknowledged: 0,
    runs: {},
  };

  /** @param server of the projects; a restored project is on that of the platform */
  constructor(private readonly server: 'platform' | 'db2' = 'platform') {}

  async setUp(): Promise<void> {
    await this.start();
    if (this.server === 'db2') {
      this.db2 = await EmbeddedPostgres.start({
        dataDir: join(this.directory, 'db2'),
        settings: { fsync: 'off' },
      });
      const body = { name: 'db2', url: this.db2.url };
      expect((await this.plinth.admin.post('/admin/v1/servers', body)).status).toBe(201);
    }
    this.neighbour = await this.create('Neighbour', 'platform');
    this.witness = await this.create('Witness');
    await this.sql(this.witness.id, 'create table written (n int primary key)');
    await this.fill(this.witness);
    this.target = await this.create('Target');
    await this.fill(this.target);
    const answer = await fetch(`${this.plinth.baseUrl}/admin/v1/projects/${this.target.id}/backup`, {
      headers: { ...this.plinth.admin.headers, ...HEADER },
    });
    expect(answer.status).toBe(200);
    this.archive = Buffer.from(await answer.arrayBuffer());
    await this.plinth.admin.delete(`/admin/v1/projects/${this.target.id}`);
    const schedule = await this.plinth.admin.put('/admin/v1/backups/schedule', { keep: 2 });
    expect(schedule.status).toBe(200);
  }

  async tearDown(): Promise<void> {
    await this.plinth?.end('SIGTERM');
    await this.db2?.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** @param kill number of this kill, from 0 */
  async kill(kill: number): Promise<void> {
    const kind = KINDS[kill % KINDS.length] as Kind;
    const writing = this.writeUntilRefused();
    if (kind === 'restore') await this.beginRestore(Math.random());
    else if (kind === 'stream') await this.beginStream(kill % 2 === 0);
    else await this.beginScheduled();
    await this.plinth.end('SIGKILL');
    await writing;
    await this.start();
    this.counts.kills[kind] += 1;
    await this.assertNothingLost();
    if (kind === 'restore') await this.assertWholeOrGone();
  }

  /** After all kills, backup, schedule and restore work, and all that they left is in order. */
  async assertRecovered(): Promise<void> {
    expect((await this.plinth.admin.post('/admin/v1/backups/runs', {})).status).toBe(202);
    await eventually(async () => {
      const [newest, ...others] = await this.runs();
      expect(newest?.status).toBe('succeeded');
      expect(others.filter(({ status }) => status === 'running')).toEqual([]);
      const kept = others.filter(
        ({ status, removed_at: removed }) => status === 'failed' && removed === null,
      );
      expect(kept).toEqual([]);
    }, RECOVERED_MS);
    await this.assertArchives();
    const headers = { ...HEADER, 'content-type': 'application/gzip' };
    const restored = await this.plinth.admin.post('/admin/v1/restore?keep_keys=true', this.archive, {
      headers,
    });
    expect([restored.status, restored.body]).toEqual([201, expect.objectContaining({ files: FILES })]);
    for (const project of [this.target, this.witness]) {
      const check = await this.plinth.admin.get(`/admin/v1/projects/${project.id}/storage/check`);
      expect(check.body).toMatchObject({ objects: FILES, rows_without_bytes: { count: 0 } });
    }
    const count = await this.service(this.target).get('/rest/v1/notes?select=count()');
    expect(count.body).toEqual([{ count: 100_000 }]);
    for (const { status } of await this.runs())
      this.counts.runs[status] = (this.counts.runs[status] ?? 0) + 1;
  }

  private async start(): Promise<void> {
    this.plinth = await PlinthProcess.start({
      dataDir: this.directory,
      env: { BACKUP_PASSPHRASE: PASSPHRASE },
    });
  }

  private async create(name: string, server: string = this.server): Promise<Created> {
    const answer = await this.plinth.admin.post('/admin/v1/projects', { name, server });
    expect(answer.status).toBe(201);
    return answer.body as Created;
  }

  private async fill(project: Created): Promise<void> {
    const notes = 'create table notes as select n, md5(n::text) from generate_series(1, 100000) n';
    expect((await this.sql(project.id, notes)).status).toBe(200);
    const owner = this.service(project);
    await owner.post(`/p/${project.slug}/storage/buckets`, { name: 'box' });
    for (let n = 0; n < FILES; n += 1) {
      const body = new FormData();
      body.append('file', new Blob([randomBytes(1_500_000)]), `${n}.bin`);
      const path = `/p/${project.slug}/storage/buckets/box/upload`;
      expect((await owner.send('POST', path, { body })).status).toBe(201);
    }
  }

  private service({ service_role_key: key }: Created): HttpClient {
    return new HttpClient(this.plinth.baseUrl, { apikey: key, authorization: `Bearer ${key}` });
  }

  private sql(id: string, query: string): Promise<HttpAnswer> {
    return this.plinth.admin.post(`/admin/v1/projects/${id}/sql`, { query });
  }

  /** One row after the other; a row counts once its request was answered. */
  private async writeUntilRefused(): Promise<void> {
    const service = this.service(this.witness);
    for (let n = (this.written.at(-1) ?? 0) + 1; ; n += 1) {
      try {
        const { status } = await service.post(
          '/rest/v1/written?on_conflict=n',
          { n },
          {
            headers: { prefer: 'return=minimal,resolution=ignore-duplicates' },
          },
        );
        if (status === 201 || status === 200) this.written.push(n);
      } catch {
        return;
      }
    }
  }

  private async beginRestore(share: number): Promise<void> {
    const headers = {
      ...this.plinth.admin.headers,
      ...HEADER,
      'content-length': String(this.archive.length),
    };
    const sent = request(`${this.plinth.baseUrl}/admin/v1/restore?keep_keys=true`, {
      method: 'POST',
      headers,
    });
    sent.on('error', () => undefined);
    const isWhole = share > 0.8;
    const part = isWhole ? this.archive : this.archive.subarray(0, Math.floor(this.archive.length * share));
    await new Promise<void>((resolve) => {
      sent.write(part, () => resolve());
    });
    await pause(Math.random() * SPREAD_MS);
  }

  private async beginStream(isInstall: boolean): Promise<void> {
    const path = isInstall ? 'backup' : `projects/${this.witness.id}/backup`;
    const headers = { ...this.plinth.admin.headers, ...HEADER };
    const sent = get(`${this.plinth.baseUrl}/admin/v1/${path}`, { headers }, (response) => {
      response.on('error', () => undefined).resume();
    });
    sent.on('error', () => undefined);
    await pause(Math.random() * SPREAD_MS);
  }

  private async beginScheduled(): Promise<void> {
    const body = { project_id: this.witness.id };
    expect((await this.plinth.admin.post('/admin/v1/backups/runs', body)).status).toBe(202);
    await eventually(async () => {
      const [newest] = await this.runs();
      expect(newest).toBeDefined();
    }, RECOVERED_MS);
    await pause(Math.random() * SPREAD_MS);
  }

  private async runs(): Promise<Run[]> {
    const path = `/admin/v1/backups/runs?limit=1000&project_id=${this.witness.id}`;
    return (await this.plinth.admin.get(path)).body as Run[];
  }

  private async assertNothingLost(): Promise<void> {
    const answer = await this.sql(
      this.witness.id,
      `select n from written order by n limit 10000 offset ${Math.max(0, this.written.length - 5_000)}`,
    );
    const found = new Set((answer.body.rows as { n: number }[]).map(({ n }) => n));
    expect(this.written.slice(-4_000).filter((n) => !found.has(n))).toEqual([]);
    this.counts.acknowledged = this.written.length;
  }

  private async assertWholeOrGone(): Promise<void> {
    const found = await this.plinth.admin.get(`/admin/v1/projects/${this.target.id}`);
    if (found.status === 404) {
      this.counts.restores.gone += 1;
      return eventually(() => this.assertGone(), RECOVERED_MS);
    }
    this.counts.restores.whole += 1;
    const count = await this.service(this.target).get('/rest/v1/notes?select=count()');
    expect(count.body).toEqual([{ count: 100_000 }]);
    await this.plinth.admin.delete(`/admin/v1/projects/${this.target.id}`);
    await eventually(() => this.assertGone(), RECOVERED_MS);
  }

  private async assertGone(): Promise<void> {
    const names = `select datname as name from pg_database where strpos(datname, '${this.target.id}') > 0
      union all select rolname from pg_roles where strpos(rolname, '${this.target.id}') > 0`;
    for (const { id } of [this.witness, this.neighbour])
      expect((await this.sql(id, names)).body.rows).toEqual([]);
    const files = join(this.directory, 'data/files', this.target.id);
    const left = existsSync(files) ? readdirSync(files, { recursive: true, withFileTypes: true }) : [];
    expect(left.filter((entry) => entry.isFile()).map(({ name }) => name)).toEqual([]);
  }

  /** The destination has the archives of good runs that were not removed, whole, and nothing else. */
  private async assertArchives(): Promise<void> {
    const folder = join(this.directory, 'data/backups', this.witness.id);
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
    const kept = (await this.runs()).filter(({ status, removed_at: at }) => status === 'succeeded' && !at);
    expect(files.map(({ name }) => name).sort()).toEqual(kept.map(({ archive }) => archive).sort());
    for (const { name, parentPath } of files) {
      const path = join(parentPath, name);
      expect(statSync(path).size).toBe(kept.find(({ archive }) => archive === name)?.bytes);
      const { manifest } = await verifyArchive(Readable.from([readFileSync(path)]), PASSPHRASE);
      expect(manifest.files.count).toBe(FILES);
    }
  }
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
