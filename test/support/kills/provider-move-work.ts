/**
 * A project moves to another install with another provider: its backup is streamed from the source (files on
 * disk) into the restore of the destination (files on S3). The source always has the whole project; the
 * destination has the whole project or nothing.
 */
import { get, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../eventually';
import type { TestProvider } from '../object-servers/object-stores';
import { KilledInstall, type KilledProject, sha256, type Work } from './killed-install';

const FILES = 4;
const ROWS = 100_000;
const HEADER = { 'backup-passphrase': encodeURIComponent('a passphrase for the test') };
/** Milliseconds; the removal of an unfinished restore is repeated every minute. */
const RECOVERED_MS = 120_000;

const keyOf = (side: string): Record<string, string> => ({
  MASTER_KEY: `the-master-key-of-the-${side}-0123456789`,
});

export class ProviderMoveWork implements Work {
  readonly acknowledged = null;
  readonly counts = { whole: 0, gone: 0 };
  private readonly source: KilledInstall;
  private readonly destination: KilledInstall;
  private files = new Map<string, string>();
  private project!: KilledProject;
  /** A project on the destination through which its server can be examined. */
  private witness!: KilledProject;
  /** Milliseconds that an undisturbed move takes. */
  private duration = 0;

  constructor(
    directory: string,
    private readonly provider: TestProvider,
  ) {
    this.source = new KilledInstall(join(directory, 'source'), keyOf('source'));
    this.destination = new KilledInstall(join(directory, 'destination'), keyOf('destination'), provider);
  }

  /** The two installs are killed in turn. */
  installOf(kill: number): KilledInstall {
    return kill % 2 === 0 ? this.destination : this.source;
  }

  /** Resolves at a random moment of the move. */
  moment(): Promise<unknown> {
    return sleep(Math.random() * this.duration);
  }

  async prepare(): Promise<void> {
    await Promise.all([this.source.start(), this.destination.start()]);
    this.project = await this.source.create('Moving');
    this.witness = await this.destination.create('Other');
    this.files = await this.source.fill(this.project, ROWS, FILES);
    const begun = performance.now();
    expect(await this.run()).toBe(201);
    this.duration = performance.now() - begun;
    await this.assertWhole(this.destination);
    await this.removeMoved();
  }

  async tearDown(): Promise<void> {
    await Promise.all([this.source.stop(), this.destination.stop()]);
  }

  /**
   * Streams the backup of the source into the restore of the destination. @returns the status of the restore; null if
   * it was interrupted
   */
  run(): Promise<number | null> {
    const [from, to] = [this.source.plinth, this.destination.plinth];
    return new Promise((resolve) => {
      const sent = request(`${to.baseUrl}/admin/v1/restore?keep_keys=true`, {
        method: 'POST',
        headers: { ...to.admin.headers, ...HEADER },
      });
      sent.on('error', () => resolve(null)).on('close', () => resolve(null));
      sent.on('response', (response) => {
        response.on('error', () => undefined).resume();
        response.on('end', () => resolve(response.statusCode ?? null));
      });
      const url = `${from.baseUrl}/admin/v1/projects/${this.project.id}/backup`;
      const taken = get(url, { headers: { ...from.admin.headers, ...HEADER } }, (response) => {
        response.on('error', () => sent.destroy()).on('close', () => response.complete || sent.destroy());
        response.pipe(sent);
      });
      taken.on('error', () => sent.destroy());
    });
  }

  async verify(): Promise<void> {
    await this.assertWhole(this.source);
    const { status } = await this.destination.admin.get(`/admin/v1/projects/${this.project.id}`);
    if (status === 404) {
      this.counts.gone += 1;
      return eventually(() => this.assertGone(), RECOVERED_MS);
    }
    this.counts.whole += 1;
    await this.assertWhole(this.destination);
    await this.removeMoved();
  }

  /** After all kills a move succeeds, and the source can be deleted. */
  async assertRecovered(): Promise<void> {
    expect(await this.run()).toBe(201);
    await this.source.admin.delete(`/admin/v1/projects/${this.project.id}`);
    await this.assertWhole(this.destination);
  }

  private async assertWhole(install: KilledInstall): Promise<void> {
    const service = install.service(this.project);
    expect((await service.get('/rest/v1/notes?select=count()')).body).toEqual([{ count: ROWS }]);
    for (const [id, expected] of this.files) {
      const path = `${install.plinth.baseUrl}/p/${this.project.slug}/storage/files/${id}/download`;
      const file = await fetch(path, { headers: service.headers });
      expect([file.status, sha256(Buffer.from(await file.arrayBuffer()))]).toEqual([200, expected]);
    }
  }

  private async removeMoved(): Promise<void> {
    await this.destination.admin.delete(`/admin/v1/projects/${this.project.id}`);
    await eventually(() => this.assertGone(), RECOVERED_MS);
  }

  private async assertGone(): Promise<void> {
    const { id } = this.project;
    expect(await this.destination.databaseObjectsOf(id, this.witness)).toEqual([]);
    expect(this.provider.names().filter((name) => name.includes(id))).toEqual([]);
    expect(this.provider.unfinished()).toBe(0);
  }
}
