/**
 * kill -9 while a project moves to another install with another provider: its backup streams from the one (files on disk)
 * into the restore of the other (files on S3). After each restart the source has everything, and the destination the whole
 * project or nothing.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { get, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually';
import { HttpAnswer, HttpClient } from './http-client';
import { s3Provider, type TestProvider } from './object-servers/object-stores';
import { PlinthProcess } from './plinth-process';

const FILES = 4;
const ROWS = 100_000;
const HEADER = { 'backup-passphrase': encodeURIComponent('a passphrase for the test') };
/** Milliseconds; the removal of what an unfinished restore left is repeated every minute. */
const RECOVERED_MS = 120_000;

type Side = 'source' | 'destination';

export interface MoveCounts {
  readonly kills: Record<Side, number>;
  readonly moves: { whole: number; gone: number };
}

interface Move {
  /** Resolves with the status of the restore; null if it was broken off. */
  readonly ended: Promise<number | null>;
}

export class MoveKills {
  private readonly directory = mkdtempSync(join(tmpdir(), 'plinth-move-kill-'));
  private readonly files = new Map<string, string>();
  private provider!: TestProvider;
  private readonly running = {} as Record<Side, PlinthProcess>;
  private project!: { id: string; slug: string; service_role_key: string };
  /** A project of the destination, in which its server can be examined. */
  private witness!: { id: string };
  /** Milliseconds that a move takes. */
  private duration = 0;
  readonly counts: MoveCounts = { kills: { source: 0, destination: 0 }, moves: { whole: 0, gone: 0 } };

  async setUp(): Promise<void> {
    this.provider = await s3Provider();
    await this.start('source');
    await this.start('destination');
    const created = await this.running.source.admin.post('/admin/v1/projects', { name: 'Moving' });
    this.project = created.body;
    this.witness = (await this.running.destination.admin.post('/admin/v1/projects', { name: 'Other' })).body;
    await this.fill();
    const begun = performance.now();
    expect(await this.begin().ended).toBe(201);
    this.duration = performance.now() - begun;
    await this.assertWhole('destination');
    await this.removeMoved();
  }

  async tearDown(): Promise<void> {
    await Promise.all(Object.values(this.running).map((plinth) => plinth.end('SIGKILL')));
    await this.provider.stop();
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }

  /** @param kill number of this kill, from 0 */
  async kill(kill: number): Promise<void> {
    const side: Side = kill % 2 === 0 ? 'destination' : 'source';
    const move = this.begin();
    await pause(Math.random() * this.duration);
    await this.running[side].end('SIGKILL');
    await move.ended;
    await this.start(side);
    this.counts.kills[side] += 1;
    await this.assertWhole('source');
    await this.assertWholeOrGone();
  }

  /** After all kills a move succeeds, and the source can be deleted. */
  async assertRecovered(): Promise<void> {
    expect(await this.begin().ended).toBe(201);
    await this.running.source.admin.delete(`/admin/v1/projects/${this.project.id}`);
    await this.assertWhole('destination');
  }

  private async start(side: Side): Promise<void> {
    const dataDir = join(this.directory, side);
    const env = {
      DATA_DIR: dataDir,
      MASTER_KEY: `the-master-key-of-the-${side}-0123456789`,
      ...(side === 'destination' ? this.provider.env : {}),
    };
    this.running[side] = await PlinthProcess.start({ dataDir: this.directory, env });
  }

  private async fill(): Promise<void> {
    const { id, slug } = this.project;
    const query = `create table notes as select n, md5(n::text) from generate_series(1, ${ROWS}) n`;
    expect((await this.sql('source', id, query)).status).toBe(200);
    await this.service('source').post(`/p/${slug}/storage/buckets`, { name: 'box' });
    for (let n = 0; n < FILES; n += 1) {
      const content = randomBytes(1_500_000);
      const body = new FormData();
      body.append('file', new Blob([content]), `${n}.bin`);
      const path = `/p/${slug}/storage/buckets/box/upload`;
      const uploaded = await this.service('source').send('POST', path, { body });
      expect(uploaded.status).toBe(201);
      this.files.set(uploaded.body.data.id as string, sha(content));
    }
  }

  private service(side: Side): HttpClient {
    const { service_role_key: key } = this.project;
    return new HttpClient(this.running[side].baseUrl, { apikey: key, authorization: `Bearer ${key}` });
  }

  private sql(side: Side, id: string, query: string): Promise<HttpAnswer> {
    return this.running[side].admin.post(`/admin/v1/projects/${id}/sql`, { query });
  }

  /** Begins to stream the backup of the one into the restore of the other. */
  private begin(): Move {
    const { source, destination } = this.running;
    const ended = new Promise<number | null>((resolve) => {
      const sent = request(`${destination.baseUrl}/admin/v1/restore?keep_keys=true`, {
        method: 'POST',
        headers: { ...destination.admin.headers, ...HEADER },
      });
      sent.on('error', () => resolve(null)).on('close', () => resolve(null));
      sent.on('response', (response) => {
        response.on('error', () => undefined).resume();
        response.on('end', () => resolve(response.statusCode ?? null));
      });
      const url = `${source.baseUrl}/admin/v1/projects/${this.project.id}/backup`;
      const taken = get(url, { headers: { ...source.admin.headers, ...HEADER } }, (response) => {
        response.on('error', () => sent.destroy()).on('close', () => response.complete || sent.destroy());
        response.pipe(sent);
      });
      taken.on('error', () => sent.destroy());
    });
    return { ended };
  }

  private async assertWhole(side: Side): Promise<void> {
    const service = this.service(side);
    expect((await service.get('/rest/v1/notes?select=count()')).body).toEqual([{ count: ROWS }]);
    for (const [id, expected] of this.files) {
      const path = `${this.running[side].baseUrl}/p/${this.project.slug}/storage/files/${id}/download`;
      const file = await fetch(path, { headers: service.headers });
      expect([file.status, sha(Buffer.from(await file.arrayBuffer()))]).toEqual([200, expected]);
    }
  }

  private async assertWholeOrGone(): Promise<void> {
    const path = `/admin/v1/projects/${this.project.id}`;
    const { status } = await this.running.destination.admin.get(path);
    if (status === 404) {
      this.counts.moves.gone += 1;
      return eventually(() => this.assertGone(), RECOVERED_MS);
    }
    this.counts.moves.whole += 1;
    await this.assertWhole('destination');
    await this.removeMoved();
  }

  private async removeMoved(): Promise<void> {
    await this.running.destination.admin.delete(`/admin/v1/projects/${this.project.id}`);
    await eventually(() => this.assertGone(), RECOVERED_MS);
  }

  private async assertGone(): Promise<void> {
    const { id } = this.project;
    const names = `select datname as name from pg_database where strpos(datname, '${id}') > 0
      union all select rolname from pg_roles where strpos(rolname, '${id}') > 0`;
    expect((await this.sql('destination', this.witness.id, names)).body.rows).toEqual([]);
    expect(this.provider.names().filter((name) => name.includes(id))).toEqual([]);
    expect(this.provider.unfinished()).toBe(0);
  }
}

const sha = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
