/**
 * Stores objects in a bucket of AWS S3 or of a server with the same API (MinIO, Ceph). Loaded only where it is configured
 * (object-store.provider.ts), because the SDK costs memory and time. Uploads do not use @aws-sdk/lib-storage, which
 * allocates a new buffer for each part: 72 MiB for one upload of 5 GiB, 22 MiB each for sixteen concurrent uploads.
 */
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  type MultipartUpload,
  paginateListObjectsV2,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { OnApplicationShutdown } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { batchesOf } from '../../common/batches';
import { nameOf } from '../../common/errors/error-facts';
import { ByteRange } from '../../http/syntax/byte-ranges';
import { S3Config } from '../../config/app-config';
import { storageUnavailable } from '../storage.errors';
import { BucketObjectStore, CONCURRENCY } from './bucket-object-store';
import { joinedParts, type Slice } from './joined-parts';
import { ObjectAddress, SizedObject, StoredObject } from './object-store';
import { partsOf } from './parts';
import { readResuming } from './resuming-read';

const MIB = 1024 * 1024;
/** The smallest part that S3 accepts; an upload holds two parts in memory. */
const PART = 5 * MIB;
const MAX_PARTS = 10_000;
/** The largest object that CopyObject copies, and the largest part. */
const MAX_COPY = 5 * 1024 * MIB;
const CONTENT_TYPE = 'application/octet-stream';
/** Maximum number of objects in a DeleteObjects request. */
const REMOVAL_BATCH_SIZE = 1_000;
const CONNECTION_TIMEOUT_MS = 5_000;
/** Maximum number of connections: a download holds a connection until its client has read it. */
const MAX_SOCKETS = 512;

/** Bucket and key of an object, and its type when it is stored. */
interface Place {
  readonly Bucket: string;
  readonly Key: string;
  readonly ContentType?: string;
}

/** A multipart upload. */
type Upload = Place & { readonly UploadId: string | undefined };

export class S3ObjectStore extends BucketObjectStore implements OnApplicationShutdown {
  override readonly heldBytes: number;
  private readonly client: S3Client;

  constructor(
    private readonly config: S3Config,
    maxFileBytes: number,
  ) {
    super(config.prefix, Math.max(PART, Math.ceil(maxFileBytes / MAX_PARTS)));
    this.client = createClient(config);
    this.heldBytes = 2 * this.wholeBytes;
  }

  onApplicationShutdown(): void {
    this.client.destroy();
  }

  override async assertAvailable(): Promise<void> {
    await this.attempt(() => this.client.send(new HeadBucketCommand({ Bucket: this.config.bucket })));
  }

  protected override putWhole(address: ObjectAddress, Body: Buffer): Promise<unknown> {
    return this.client.send(new PutObjectCommand({ ...this.placeOf(address), Body }));
  }

  protected override async putStream(address: ObjectAddress, chunks: AsyncGenerator<Buffer>): Promise<void> {
    const { wholeBytes, client } = this;
    await this.inParts(this.placeOf(address), async function* (upload) {
      let PartNumber = 0;
      for await (const Body of partsOf(chunks, wholeBytes)) {
        PartNumber += 1;
        const { ETag } = await client.send(new UploadPartCommand({ ...upload, PartNumber, Body }));
        yield { PartNumber, ETag };
      }
    });
  }

  override read(address: ObjectAddress, range: ByteRange): Promise<Buffer | AsyncIterable<Buffer>> {
    const open = async ({ start, end }: ByteRange): Promise<Readable> => {
      const request = new GetObjectCommand({ ...this.locate(address), Range: `bytes=${start}-${end}` });
      return this.attempt(async () => {
        const { Body } = await this.client.send(request);
        if (!(Body instanceof Readable)) throw new Error('the answer has no body');
        return Body;
      }, address);
    };
    return readResuming(open, range, this.config.timeoutMs);
  }

  override async copy(from: ObjectAddress, to: ObjectAddress, size: number): Promise<void> {
    const source = this.sourceOf(from);
    await this.attempt(async () => {
      if (size > MAX_COPY) await this.join([{ address: from, size }], to);
      else await this.client.send(new CopyObjectCommand({ ...this.locate(to), CopySource: source }));
    }, from);
  }

  override async copyRange(from: ObjectAddress, to: ObjectAddress, range: ByteRange): Promise<void> {
    const parts = joinedParts([{ address: from, size: range.end - range.start + 1 }], PART, MAX_COPY);
    await this.joinSlices(
      parts.map((slices) => slices.map((slice) => ({ ...slice, start: slice.start + range.start }))),
      to,
    );
  }

  override async join(objects: readonly SizedObject[], to: ObjectAddress): Promise<void> {
    await this.joinSlices(joinedParts(objects, PART, MAX_COPY), to);
  }

  private async joinSlices(parts: readonly Slice[][], to: ObjectAddress): Promise<void> {
    const join = (): Promise<void> =>
      this.inParts(this.placeOf(to), (upload) => this.sendJoined(upload, parts));
    await this.attempt(join, parts[0]?.[0]?.address);
  }

  override async remove(addresses: readonly ObjectAddress[]): Promise<void> {
    const keys = addresses.map((address) => this.layout.keyOf(address));
    for (const batch of batchesOf(keys, REMOVAL_BATCH_SIZE)) await this.attempt(() => this.removeKeys(batch));
  }

  protected override async sizeOf(address: ObjectAddress): Promise<number | undefined> {
    return (await this.client.send(new HeadObjectCommand(this.locate(address)))).ContentLength;
  }

  override async *projects(): AsyncGenerator<string> {
    for await (const { CommonPrefixes = [] } of this.list(this.config.prefix, '/')) {
      for (const { Prefix = '' } of CommonPrefixes) yield this.layout.projectOf(Prefix);
    }
  }

  override async *objects(projectId: string): AsyncGenerator<StoredObject[]> {
    for await (const { Contents = [] } of this.list(this.layout.folderOf(projectId))) {
      const objects = Contents.flatMap(({ Key = '', Size = 0, LastModified }) => {
        const objectId = this.layout.objectIdOf(projectId, Key);
        return objectId ? [{ objectId, size: Size, storedAt: LastModified?.getTime() ?? Date.now() }] : [];
      });
      if (objects.length > 0) yield objects;
    }
  }

  override async removeUnfinished(projectId: string, before: number): Promise<number> {
    return this.attempt(async () => {
      let removed = 0;
      const { bucket: Bucket } = this.config;
      for await (const { Key, UploadId, Initiated } of this.unfinishedUploads(projectId)) {
        if (!Initiated || Initiated.getTime() >= before) continue;
        await this.client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
        removed += 1;
      }
      return removed;
    });
  }

  /** Multipart uploads that were neither completed nor aborted. The SDK has no paginator for them. */
  private async *unfinishedUploads(projectId: string): AsyncGenerator<MultipartUpload> {
    const place = { Bucket: this.config.bucket, Prefix: this.layout.folderOf(projectId) };
    for (let markers: { KeyMarker?: string; UploadIdMarker?: string } = {}; ;) {
      const page: ListMultipartUploadsCommandOutput = await this.client.send(
        new ListMultipartUploadsCommand({ ...place, ...markers }),
      );
      yield* page.Uploads ?? [];
      if (!page.IsTruncated) return;
      markers = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
    }
  }

  override async removeProject(projectId: string): Promise<void> {
    await this.removeUnfinished(projectId, Infinity);
    for await (const { Contents = [] } of this.list(this.layout.folderOf(projectId))) {
      const keys = Contents.flatMap(({ Key }) => Key ?? []);
      if (keys.length > 0) await this.attempt(() => this.removeKeys(keys));
    }
  }

  private async removeKeys(keys: readonly string[]): Promise<void> {
    const Delete = { Objects: keys.map((Key) => ({ Key })), Quiet: true };
    const { Errors = [] } = await this.client.send(
      new DeleteObjectsCommand({ Bucket: this.config.bucket, Delete }),
    );
    const [first] = Errors;
    if (first)
      throw new Error(
        `${Errors.length} of ${keys.length} objects were not removed: ${first.Code} ${first.Message}`,
      );
  }

  /** Several parts are copied concurrently; data that is too small for a copy is read, a part at a time. */
  private async *sendJoined(upload: Upload, parts: readonly Slice[][]): AsyncGenerator<CompletedPart> {
    for (const batch of batchesOf([...parts.entries()], CONCURRENCY)) {
      const copies = batch.map(([index, [slice, ...more]]) =>
        slice && more.length === 0 ? this.copyPart(upload, index + 1, slice) : null,
      );
      try {
        for (const [place, [index, slices]] of batch.entries())
          yield (await copies[place]) ?? (await this.sendSlices(upload, index + 1, slices));
      } finally {
        // Waits for all copies: a copy that still runs when the upload is aborted may leave its bytes.
        await Promise.allSettled(copies.flatMap((copy) => copy ?? []));
      }
    }
  }

  private async copyPart(
    upload: Upload,
    PartNumber: number,
    { address, start, size }: Slice,
  ): Promise<CompletedPart> {
    const range = {
      CopySource: this.sourceOf(address),
      CopySourceRange: `bytes=${start}-${start + size - 1}`,
    };
    const command = new UploadPartCopyCommand({ ...upload, PartNumber, ...range });
    const { CopyPartResult } = await this.client.send(command);
    return { PartNumber, ETag: CopyPartResult?.ETag };
  }

  private async sendSlices(
    upload: Upload,
    PartNumber: number,
    slices: readonly Slice[],
  ): Promise<CompletedPart> {
    const read = async ({ address, start, size }: Slice): Promise<Buffer> => {
      const found = await this.read(address, { start, end: start + size - 1 });
      if (Buffer.isBuffer(found)) return found;
      const chunks: Buffer[] = [];
      for await (const chunk of found) chunks.push(Buffer.from(chunk));
      return Buffer.concat(chunks);
    };
    const pieces: Buffer[] = [];
    for (const batch of batchesOf(slices, CONCURRENCY)) pieces.push(...(await Promise.all(batch.map(read))));
    const Body = Buffer.concat(pieces);
    const { ETag } = await this.client.send(new UploadPartCommand({ ...upload, PartNumber, Body }));
    return { PartNumber, ETag };
  }

  /** Makes a multipart upload, and aborts it if it fails. @param send sends the parts in order and yields each */
  private async inParts(place: Place, send: (upload: Upload) => AsyncIterable<CompletedPart>): Promise<void> {
    const { Bucket, Key } = place;
    const { UploadId } = await this.client.send(new CreateMultipartUploadCommand(place));
    const upload = { Bucket, Key, UploadId };
    try {
      const Parts: CompletedPart[] = [];
      for await (const part of send(upload)) Parts.push(part);
      await this.client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
    } catch (error) {
      // The first error is thrown. The sweep removes an upload that could not be aborted.
      await this.client.send(new AbortMultipartUploadCommand(upload)).catch(() => undefined);
      throw error;
    }
  }

  private async *list(prefix: string, delimiter?: string): ReturnType<typeof paginateListObjectsV2> {
    try {
      yield* paginateListObjectsV2(
        { client: this.client },
        { Bucket: this.config.bucket, Prefix: prefix, Delimiter: delimiter },
      );
    } catch (error) {
      throw storageUnavailable(error);
    }
  }

  private sourceOf(address: ObjectAddress): string {
    return encodeURI(`${this.config.bucket}/${this.layout.keyOf(address)}`);
  }

  private locate(address: ObjectAddress): Place {
    return { Bucket: this.config.bucket, Key: this.layout.keyOf(address) };
  }

  /** The place of an object that is to be stored. */
  private placeOf(address: ObjectAddress): Place {
    return { ...this.locate(address), ContentType: CONTENT_TYPE };
  }

  protected override isMissing(error: unknown): boolean {
    return ['NoSuchKey', 'NotFound'].includes(nameOf(error) ?? '');
  }
}

function createClient({ endpoint, region, pathStyle, credentials, timeoutMs }: S3Config): S3Client {
  const client = new S3Client({
    region,
    forcePathStyle: pathStyle,
    ...(endpoint ? { endpoint } : {}),
    // Copied, because the SDK modifies it and the configuration is frozen.
    ...(credentials ? { credentials: { ...credentials } } : {}),
    // Many servers do not know the SDK's newer checksums. The signature covers a hash of the body anyway.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: Math.min(CONNECTION_TIMEOUT_MS, timeoutMs),
      socketTimeout: timeoutMs,
      httpAgent: { maxSockets: MAX_SOCKETS },
      httpsAgent: { maxSockets: MAX_SOCKETS },
    },
  });
  // S3 requires a checksum for DeleteObjects, and every server knows Content-MD5.
  client.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        const { body, headers } = args.request as { body: string; headers: Record<string, string> };
        if (commandName === 'DeleteObjectsCommand')
          headers['content-md5'] = createHash('md5').update(body).digest('base64');
        return next(args);
      },
    { step: 'build', name: 'contentMd5' },
  );
  return client;
}
