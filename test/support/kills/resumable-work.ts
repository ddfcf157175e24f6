/**
 * Resumable uploads (TUS). No acknowledged byte is lost, and every upload continues after a kill and becomes its file.
 */
import { randomBytes, randomInt } from 'node:crypto';
import { until } from '../eventually';
import { IN_SOAK } from '../extent';
import {
  type KilledInstall,
  type KilledProject,
  repeatUntilKilled,
  sha256,
  type Work,
} from './killed-install';

const WORKERS = IN_SOAK ? 3 : 2;
const FILE_BYTES = IN_SOAK ? 12_000_000 : 8_000_000;
const REQUEST_BYTES = 5_000_000;
/** Milliseconds; longer than the time after which another process completes an upload. */
const WAIT_MS = 60_000;

/** One upload in progress. */
interface Running {
  readonly name: string;
  readonly bytes: Buffer;
  /** Null if the response to the beginning was lost. */
  url: string | null;
  acknowledged: number;
}

export class ResumableWork implements Work {
  acknowledged = 0;
  private project!: KilledProject;
  private names = 0;
  private readonly running: Running[];
  /** Digests of the completed files. */
  private readonly completed = new Map<string, string>();

  constructor(private readonly install: KilledInstall) {
    this.running = Array.from({ length: WORKERS }, () => this.next());
  }

  async prepare(): Promise<void> {
    this.project = await this.install.create('Resumable');
    const made = await this.install
      .service(this.project)
      .post(`/p/${this.project.slug}/storage/buckets`, { name: 'box' });
    expect(made.status).toBe(201);
  }

  run(): Promise<unknown> {
    return Promise.all(this.running.map((_, index) => repeatUntilKilled(() => this.step(index))));
  }

  async verify(): Promise<void> {
    for (const [index, upload] of this.running.entries()) await this.verifyUpload(index, upload);
    for (const [name, digest] of this.completed) await this.verifyFile(name, digest);
    this.completed.clear();
    // Sweeps bytes that interrupted requests had not completely stored.
    const swept = await this.install.admin.post(`/admin/v1/projects/${this.project.id}/storage/sweep`);
    expect([swept.status, swept.body.rows_without_bytes]).toEqual([200, 0]);
  }

  private next(): Running {
    const name = `resumable-${(this.names += 1)}`;
    return { name, bytes: randomBytes(randomInt(1, FILE_BYTES)), url: null, acknowledged: 0 };
  }

  private send(method: string, path: string, headers: object, body?: Buffer): Promise<Response> {
    const { headers: credentials } = this.install.service(this.project);
    return fetch(new URL(path, this.install.plinth.baseUrl), {
      method,
      headers: { ...credentials, 'tus-resumable': '1.0.0', ...headers },
      body: body && new Uint8Array(body),
    });
  }

  private async step(index: number): Promise<void> {
    const upload = this.running[index] as Running;
    if (upload.url === null) {
      const encoded = (text: string): string => Buffer.from(text).toString('base64');
      const begun = await this.send('POST', `/p/${this.project.slug}/storage/v1/upload/resumable`, {
        'upload-length': String(upload.bytes.length),
        'upload-metadata': `bucketName ${encoded('box')},objectName ${encoded(upload.name)}`,
      });
      if (begun.status === 503) return;
      expect(begun.status).toBe(201);
      upload.url = begun.headers.get('location');
      return;
    }
    const end = upload.acknowledged + randomInt(1, REQUEST_BYTES);
    const body = upload.bytes.subarray(upload.acknowledged, end);
    const headers = {
      'content-type': 'application/offset+octet-stream',
      'upload-offset': String(upload.acknowledged),
    };
    const answer = await this.send('PATCH', upload.url, headers, body);
    // The server was busy. Like a client, ask how much has arrived; the upload may be complete already.
    if (answer.status === 503) return this.verifyUpload(index, upload);
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    this.acknowledged += 1;
    upload.acknowledged += body.length;
    if (upload.acknowledged === upload.bytes.length) this.complete(index, upload);
  }

  private complete(index: number, { name, bytes }: Running): void {
    this.completed.set(name, sha256(bytes));
    this.running[index] = this.next();
  }

  private async verifyUpload(index: number, upload: Running): Promise<void> {
    if (upload.url === null) return;
    const { url } = upload;
    let state!: Response;
    await until(async () => {
      state = await this.send('HEAD', url, {});
      return state.status !== 423 && state.status !== 503;
    }, WAIT_MS);
    const offset = Number(state.headers.get('upload-offset'));
    expect([state.status, offset >= upload.acknowledged]).toEqual([200, true]);
    upload.acknowledged = offset;
    if (offset === upload.bytes.length) this.complete(index, upload);
  }

  private async verifyFile(name: string, digest: string): Promise<void> {
    const response = await this.send(
      'GET',
      `/p/${this.project.slug}/storage/v1/object/authenticated/box/${name}`,
      {},
    );
    const bytes = Buffer.from(await response.arrayBuffer());
    expect([response.status, sha256(bytes)]).toEqual([200, digest]);
  }
}
