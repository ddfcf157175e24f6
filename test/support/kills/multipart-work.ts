/**
 * Multipart uploads of the S3 protocol. No acknowledged part is lost, and every upload continues after a kill and
 * becomes its object.
 */
import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListPartsCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import {
  type KilledInstall,
  type KilledProject,
  repeatUntilKilled,
  sha256,
  type Work,
} from './killed-install';
import { eventually } from '../eventually';

const WORKERS = 2;
/** Minimum bytes of each part except the last. */
const PART_BYTES = 5 * 1024 * 1024;
const Bucket = 'parts';

interface Running {
  readonly Key: string;
  readonly parts: readonly Buffer[];
  /** Undefined if the response to the beginning was lost. */
  UploadId: string | undefined;
  acknowledged: number;
}

export class MultipartWork implements Work {
  acknowledged = 0;
  private project!: KilledProject;
  private client!: () => S3Client;
  private names = 0;
  private readonly running: Running[];
  /** Digests of the completed objects. */
  private readonly completed = new Map<string, string>();

  constructor(private readonly install: KilledInstall) {
    this.running = Array.from({ length: WORKERS }, () => this.next());
  }

  async prepare(): Promise<void> {
    this.project = await this.install.create('Multipart');
    const { id, slug } = this.project;
    const { status, body: key } = await this.install.admin.post(`/admin/v1/projects/${id}/s3-keys`, {});
    expect(status).toBe(201);
    this.client = () =>
      new S3Client({
        endpoint: `${this.install.plinth.baseUrl}/p/${slug}/storage/v1/s3`,
        region: 'us-east-1',
        forcePathStyle: true,
        maxAttempts: 1,
        credentials: { accessKeyId: key.access_key_id, secretAccessKey: key.secret_access_key },
      });
    await this.client().send(new CreateBucketCommand({ Bucket }));
  }

  run(): Promise<unknown> {
    const client = this.client();
    return Promise.all(
      this.running.map((_, index) => repeatUntilKilled(() => this.step(client, index).catch(asLost))),
    );
  }

  async verify(): Promise<void> {
    const client = this.client();
    for (const [index, { Key, UploadId, parts, acknowledged }] of this.running.entries()) {
      if (UploadId === undefined) continue;
      if (acknowledged === parts.length) {
        // The killed process may have begun to complete the upload, which another process continues after some seconds.
        await eventually(() => this.step(client, index));
        continue;
      }
      const { Parts = [] } = await client.send(new ListPartsCommand({ Bucket, Key, UploadId }));
      const kept = Parts.slice(0, acknowledged).map(({ ETag }) => ETag);
      expect(kept).toEqual(parts.slice(0, acknowledged).map(etagOf));
    }
    for (const [Key, digest] of this.completed) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
      expect(sha256(Buffer.from(await Body!.transformToByteArray()))).toBe(digest);
    }
    this.completed.clear();
    // Sweeps bytes that interrupted requests had not completely stored.
    const swept = await this.install.admin.post(`/admin/v1/projects/${this.project.id}/storage/sweep`);
    expect([swept.status, swept.body.rows_without_bytes]).toEqual([200, 0]);
  }

  private next(): Running {
    const Key = `multipart-${(this.names += 1)}`;
    const parts = [randomBytes(PART_BYTES), randomBytes(randomInt(1, PART_BYTES))];
    return { Key, parts, UploadId: undefined, acknowledged: 0 };
  }

  private async step(client: S3Client, index: number): Promise<void> {
    const upload = this.running[index] as Running;
    const { Key, UploadId, parts, acknowledged } = upload;
    if (UploadId === undefined) {
      upload.UploadId = (await client.send(new CreateMultipartUploadCommand({ Bucket, Key }))).UploadId;
    } else if (acknowledged < parts.length) {
      const part = { PartNumber: acknowledged + 1, Body: parts[acknowledged] };
      await client.send(new UploadPartCommand({ Bucket, Key, UploadId, ...part }));
      upload.acknowledged += 1;
    } else {
      const Parts = parts.map((part, at) => ({ PartNumber: at + 1, ETag: etagOf(part) }));
      const change = { Bucket, Key, UploadId, MultipartUpload: { Parts } };
      await client.send(new CompleteMultipartUploadCommand(change));
      this.acknowledged += 1;
      this.completed.set(Key, sha256(Buffer.concat(parts)));
      this.running[index] = this.next();
    }
  }
}

const etagOf = (part: Buffer): string => `"${createHash('md5').update(part).digest('hex')}"`;

/** Does nothing if the server was busy: the request is repeated. @throws TypeError, as fetch does, if the connection was lost */
function asLost(error: unknown): void {
  const { $metadata } = error as { $metadata?: { httpStatusCode?: number } };
  if ($metadata?.httpStatusCode === 503) return;
  throw $metadata?.httpStatusCode === undefined ? new TypeError('no answer', { cause: error }) : error;
}
