/**
 * Restores, streamed backups, and scheduled backups in turn. A project whose restore was interrupted is
 * complete or absent. At the end backups, schedule and restore work, and nothing is left over.
 */
import { readFileSync, statSync } from 'node:fs';
import { get, request } from 'node:http';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { verifyArchive } from '../../../src/backup/archive/open-archive';
import { eventually } from '../eventually';
import { IN_SOAK } from '../extent';
import type { KilledInstall, KilledProject, Work } from './killed-install';
import type { RowWork } from './row-work';

const FILES = IN_SOAK ? 4 : 2;
const ROWS = IN_SOAK ? 100_000 : 10_000;
/** BACKUP_PASSPHRASE of installs with this work. */
export const KILL_PASSPHRASE = 'a passphrase for the test';
const HEADERS = {
  'backup-passphrase': encodeURIComponent(KILL_PASSPHRASE),
  'content-type': 'application/gzip',
};
/** Milliseconds; another process takes a job over within 30 seconds. */
const RECOVERED_MS = 120_000;

interface Run {
  readonly status: string;
  readonly archive: string;
  readonly bytes: number;
  readonly removed_at: string | null;
}

const KINDS = ['restore', 'schedule', 'stream'] as const;
type Kind = (typeof KINDS)[number];

export class BackupWork implements Work {
  readonly acknowledged = null;
  /** Number of each outcome, for the report of a soak. */
  readonly counts = {
    kills: { restore: 0, stream: 0, schedule: 0 },
    restores: { whole: 0, gone: 0 },
    runs: {} as Record<string, number>,
  };
  private kind: Kind = 'restore';
  /** A project on the server of the platform. */
  private neighbour!: KilledProject;
  private target!: KilledProject;
  private archive!: Buffer;

  /**
   * @param rows the work whose project is backed up while rows are written
   * @param server the server of the project that is restored; the restore puts it on the platform's server
   */
  constructor(
    private readonly install: KilledInstall,
    private readonly rows: RowWork,
    private readonly server = 'platform',
  ) {}

  private get witness(): KilledProject {
    return this.rows.project;
  }

  async prepare(): Promise<void> {
    const { install, server } = this;
    this.neighbour = await install.create('Neighbour', { server: 'platform' });
    await install.fill(this.witness, ROWS, FILES);
    this.target = await install.create('Target', { server });
    await install.fill(this.target, ROWS, FILES);
    const path = `${install.plinth.baseUrl}/admin/v1/projects/${this.target.id}/backup`;
    const answer = await fetch(path, { headers: { ...install.admin.headers, ...HEADERS } });
    expect(answer.status).toBe(200);
    this.archive = Buffer.from(await answer.arrayBuffer());
    await install.admin.delete(`/admin/v1/projects/${this.target.id}`);
    expect((await install.admin.put('/admin/v1/backups/schedule', { keep: 2 })).status).toBe(200);
  }

  async run(kill: number): Promise<void> {
    this.kind = KINDS[kill % KINDS.length] as Kind;
    if (this.kind === 'restore') await this.beginRestore();
    else if (this.kind === 'stream') await this.beginStream(kill % 2 === 0);
    else {
      const body = { project_id: this.witness.id };
      // The process may be killed before it answers.
      await this.install.admin.post('/admin/v1/backups/runs', body).catch(() => undefined);
    }
  }

  async verify(): Promise<void> {
    this.counts.kills[this.kind] += 1;
    if (this.kind === 'restore') await this.assertWholeOrGone();
  }

  /** Checks that everything works after all kills. */
  async assertRecovered(): Promise<void> {
    const { admin } = this.install;
    const body = IN_SOAK ? {} : { project_id: this.witness.id };
    expect((await admin.post('/admin/v1/backups/runs', body)).status).toBe(202);
    await eventually(async () => {
      const [newest, ...others] = await this.runs();
      expect(newest?.status).toBe('succeeded');
      expect(others.filter(({ status }) => status === 'running')).toEqual([]);
      const kept = others.filter(({ status, removed_at: at }) => status === 'failed' && at === null);
      expect(kept).toEqual([]);
    }, RECOVERED_MS);
    await this.assertArchives();
    const restored = await admin.post('/admin/v1/restore?keep_keys=true', this.archive, { headers: HEADERS });
    expect([restored.status, restored.body]).toEqual([201, expect.objectContaining({ files: FILES })]);
    for (const project of [this.target, this.witness]) {
      const check = await admin.get(`/admin/v1/projects/${project.id}/storage/check`);
      expect(check.body).toMatchObject({ objects: FILES, rows_without_bytes: { count: 0 } });
    }
    await this.assertRows();
    for (const { status } of await this.runs())
      this.counts.runs[status] = (this.counts.runs[status] ?? 0) + 1;
  }

  private async assertRows(): Promise<void> {
    const count = await this.install.service(this.target).get('/rest/v1/notes?select=count()');
    expect(count.body).toEqual([{ count: ROWS }]);
  }

  /** Sends a part of the archive, or all of it, and resolves when it was written. */
  private beginRestore(): Promise<void> {
    const share = Math.random() * 1.25;
    const sent = request(`${this.install.plinth.baseUrl}/admin/v1/restore?keep_keys=true`, {
      method: 'POST',
      headers: {
        ...this.install.admin.headers,
        ...HEADERS,
        'content-length': String(this.archive.length),
      },
    });
    return new Promise((resolve) => {
      sent.on('error', () => resolve());
      sent.write(this.archive.subarray(0, Math.ceil(this.archive.length * share)), () => resolve());
    });
  }

  private beginStream(isInstall: boolean): Promise<void> {
    const path = isInstall ? 'backup' : `projects/${this.witness.id}/backup`;
    const headers = { ...this.install.admin.headers, ...HEADERS };
    return new Promise((resolve) => {
      const sent = get(`${this.install.plinth.baseUrl}/admin/v1/${path}`, { headers }, (response) => {
        response.on('error', () => undefined).resume();
        resolve();
      });
      sent.on('error', () => resolve());
    });
  }

  private async runs(): Promise<Run[]> {
    const path = `/admin/v1/backups/runs?limit=1000&project_id=${this.witness.id}`;
    return (await this.install.admin.get(path)).body as Run[];
  }

  private async assertWholeOrGone(): Promise<void> {
    const path = `/admin/v1/projects/${this.target.id}`;
    const isGone = (await this.install.admin.get(path)).status === 404;
    this.counts.restores[isGone ? 'gone' : 'whole'] += 1;
    if (!isGone) {
      await this.assertRows();
      await this.install.admin.delete(path);
    }
    await eventually(async () => {
      for (const project of [this.witness, this.neighbour])
        expect(await this.install.databaseObjectsOf(this.target.id, project)).toEqual([]);
      expect(this.install.objectsOf(this.target.id)).toEqual([]);
    }, RECOVERED_MS);
  }

  /** The destination contains complete archives of the successful runs that were not removed, and nothing else. */
  private async assertArchives(): Promise<void> {
    const files = this.install.filesIn(`backups/${this.witness.id}`);
    const kept = (await this.runs()).filter(({ status, removed_at: at }) => status === 'succeeded' && !at);
    const names = files.map((file) => basename(file));
    expect(names.sort()).toEqual(kept.map(({ archive }) => archive).sort());
    for (const file of files) {
      const run = kept.find(({ archive }) => archive === basename(file));
      expect(statSync(file).size).toBe(run?.bytes);
      const { manifest } = await verifyArchive(Readable.from([readFileSync(file)]), KILL_PASSPHRASE);
      expect(manifest.files.count).toBe(FILES);
    }
  }
}
