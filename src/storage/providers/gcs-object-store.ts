/**
 * Stores objects in a bucket of Google Cloud Storage. Loaded only where it is configured (object-store.provider.ts), because the
 * SDK costs memory and time. Uploads use the SDK's own streams; downloads do not: its read stream does not end its request
 * when the reader stops, and a failure destroys the agent that all requests share.
 */
import {
  type ApiError,
  type Bucket,
  type File,
  type GetFilesOptions,
  IdempotencyStrategy,
  Storage,
} from '@google-cloud/storage';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { batchesOf } from '../../common/batches';
import { ByteRange } from '../../http/syntax/byte-ranges';
import { GcsConfig } from '../../config/app-config';
import { storageUnavailable } from '../storage.errors';
import { BucketObjectStore, CONCURRENCY } from './bucket-object-store';
import { fetchRetrying } from './fetch-retrying';
import { ObjectAddress, SizedObject, StoredObject } from './object-store';
import { readResuming } from './resuming-read';

/** Bytes of a chunk of a resumable upload; smaller files take one request. Google recommends at least 8 MiB. */
const CHUNK = 8 * 1024 * 1024;
const PAGE = 1_000;
const METADATA = { contentType: 'application/octet-stream' };
/** Maximum number of sources that one compose request can have. */
const MAX_COMPOSED = 32;
const MAX_RETRIES = 3;
const MAX_RETRY_DELAY_SECONDS = 1;
const GOOGLE = /(^|\.)googleapis\.com$/;

/** The SDK does not export this type. */
type RequestOptions = ReturnType<NonNullable<Storage['interceptors'][number]['request']>>;

interface ListPage {
  readonly files: File[];
  readonly prefixes: readonly string[];
  readonly nextPageToken?: string;
}

export class GcsObjectStore extends BucketObjectStore {
  override readonly heldBytes = CHUNK;
  private readonly storage: Storage;
  private readonly bucket: Bucket;
  /** False for emulators, which need no credentials. */
  private readonly isAuthenticated: boolean;

  constructor(private readonly config: GcsConfig) {
    super(config.prefix, CHUNK);
    this.isAuthenticated = config.keyFile !== null || isGoogle(config.endpoint);
    this.storage = createClient(config, this.isAuthenticated);
    this.bucket = this.storage.bucket(config.bucket);
  }

  /** Lists objects, which needs no more permissions than the other calls do. */
  override async assertAvailable(): Promise<void> {
    await this.attempt(() => this.page({ prefix: this.config.prefix, maxResults: 1 }));
  }

  protected override putWhole(address: ObjectAddress, bytes: Buffer): Promise<unknown> {
    return this.file(address).save(bytes, { resumable: false, metadata: METADATA });
  }

  protected override async putStream(address: ObjectAddress, chunks: AsyncGenerator<Buffer>): Promise<void> {
    const options = { resumable: true, chunkSize: CHUNK, metadata: METADATA };
    await pipeline(chunks, this.file(address).createWriteStream(options));
  }

  override read(address: ObjectAddress, range: ByteRange): Promise<Buffer | AsyncIterable<Buffer>> {
    const open = (part: ByteRange): Promise<Readable> => this.download(address, part);
    return readResuming(open, range, this.config.timeoutMs);
  }

  override async copy(from: ObjectAddress, to: ObjectAddress): Promise<void> {
    await this.attempt(() => this.file(from).copy(this.file(to)), from);
  }

  /** Composes in steps: one request takes MAX_COMPOSED objects, and an object can be written only once a second. */
  override async join(objects: readonly SizedObject[], to: ObjectAddress): Promise<void> {
    const steps: ObjectAddress[] = [];
    let sources = objects.filter(({ size }) => size > 0).map(({ address }) => address);
    const size = objects.reduce((sum, object) => sum + object.size, 0);
    const composed = async (group: readonly ObjectAddress[]): Promise<ObjectAddress> => {
      const step = this.newAddress(to.projectId);
      steps.push(step);
      await this.compose(group, step);
      return step;
    };
    try {
      while (sources.length > MAX_COMPOSED) {
        const groups = [...batchesOf(sources, MAX_COMPOSED)];
        sources = [];
        for (const batch of batchesOf(groups, CONCURRENCY))
          sources.push(...(await Promise.all(batch.map(composed))));
      }
      if ((await this.compose(sources, to)) === size) return;
      steps.push(to);
      throw storageUnavailable(new Error('the joined objects have other sizes than their rows'));
    } finally {
      // The sweep removes the objects that are left.
      await this.remove(steps).catch(() => undefined);
    }
  }

  override async remove(addresses: readonly ObjectAddress[]): Promise<void> {
    const keys = addresses.map((address) => this.layout.keyOf(address));
    await this.attempt(() => this.removeKeys(keys));
  }

  protected override async sizeOf(address: ObjectAddress): Promise<number> {
    const [metadata] = await this.file(address).getMetadata();
    return Number(metadata.size);
  }

  override async *projects(): AsyncGenerator<string> {
    for await (const { prefixes } of this.list(this.config.prefix, '/')) {
      for (const prefix of prefixes) yield this.layout.projectOf(prefix);
    }
  }

  override async *objects(projectId: string): AsyncGenerator<StoredObject[]> {
    for await (const { files } of this.list(this.layout.folderOf(projectId))) {
      const objects = files.flatMap(({ name, metadata }) => {
        const objectId = this.layout.objectIdOf(projectId, name);
        const storedAt = Date.parse(metadata.timeCreated ?? '');
        return objectId ? [{ objectId, size: Number(metadata.size), storedAt }] : [];
      });
      if (objects.length > 0) yield objects;
    }
  }

  /** Unfinished resumable uploads cannot be listed; Google deletes them after a week. */
  override async removeUnfinished(): Promise<number> {
    return 0;
  }

  override async removeProject(projectId: string): Promise<void> {
    for await (const { files } of this.list(this.layout.folderOf(projectId))) {
      await this.attempt(() => this.removeKeys(files.map(({ name }) => name)));
    }
  }

  /** @returns the number of bytes of the new object @throws ObjectMissingError, AppError 500 */
  private async compose(sources: readonly ObjectAddress[], to: ObjectAddress): Promise<number> {
    const files = sources.map((address) => this.file(address));
    const [, answer] = await this.attempt(() => this.bucket.combine(files, this.file(to)), sources[0]);
    return Number((answer as { size?: string }).size);
  }

  private async removeKeys(keys: readonly string[]): Promise<void> {
    for (const batch of batchesOf(keys, CONCURRENCY)) {
      await Promise.all(batch.map((key) => this.bucket.file(key).delete({ ignoreNotFound: true })));
    }
  }

  /** Does not use the SDK's read stream; the head of this file gives the reason. */
  private async download(address: ObjectAddress, { start, end }: ByteRange): Promise<Readable> {
    const { apiEndpoint, authClient } = this.storage;
    const name = encodeURIComponent(this.layout.keyOf(address));
    const url = `${apiEndpoint}/storage/v1/b/${this.config.bucket}/o/${name}?alt=media`;
    const response = await this.attempt(async () => {
      const credentials = this.isAuthenticated ? await authClient.getRequestHeaders(url) : {};
      const headers = { ...credentials, range: `bytes=${start}-${end}`, 'accept-encoding': 'identity' };
      return fetchRetrying(url, headers, this.config.timeoutMs);
    }, address);
    return Readable.fromWeb(response.body as ReadableStream);
  }

  private async *list(prefix: string, delimiter?: string): AsyncGenerator<ListPage> {
    for (let pageToken: string | undefined; ;) {
      const query = { prefix, delimiter, pageToken, maxResults: PAGE };
      const page: ListPage = await this.attempt(() => this.page(query));
      yield page;
      pageToken = page.nextPageToken;
      if (!pageToken) return;
    }
  }

  private async page(query: GetFilesOptions): Promise<ListPage> {
    const [files, , answer] = await this.bucket.getFiles({ ...query, autoPaginate: false });
    const { prefixes = [], nextPageToken } = answer as Partial<ListPage>;
    return { files, prefixes, nextPageToken };
  }

  private file(address: ObjectAddress): File {
    return this.bucket.file(this.layout.keyOf(address));
  }

  /** Excludes a missing bucket, which has the same status. */
  protected override isMissing(error: unknown): boolean {
    const { code, message = '' } = error as Partial<ApiError>;
    return code === 404 && !message.includes('bucket does not exist');
  }
}

function createClient({ endpoint, keyFile, timeoutMs }: GcsConfig, isAuthenticated: boolean): Storage {
  const storage = new Storage({
    ...(endpoint ? { apiEndpoint: endpoint, useAuthWithCustomEndpoint: isAuthenticated } : {}),
    ...(keyFile ? { keyFilename: keyFile } : {}),
    retryOptions: {
      // Safe, because objects never change and no name is reused, so every call is idempotent.
      idempotencyStrategy: IdempotencyStrategy.RetryAlways,
      maxRetries: MAX_RETRIES,
      maxRetryDelay: MAX_RETRY_DELAY_SECONDS,
    },
  });
  storage.interceptors.push({ request: (options) => ({ ...options, timeout: timeoutMs }) as RequestOptions });
  return storage;
}

function isGoogle(endpoint: string | null): boolean {
  return endpoint === null || GOOGLE.test(new URL(endpoint).hostname);
}
