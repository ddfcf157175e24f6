/** Multipart uploads of the S3 protocol. Each operation sends its own response. */
import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { AppError } from '../../../common/errors/app-error';
import type { ByteRange } from '../../../http/syntax/byte-ranges';
import type { S3File } from '../../files/file';
import { FileContentRepository } from '../../files/file-content.repository';
import { type ObjectAddress, ObjectMissingError, ObjectStore } from '../../providers/object-store';
import { MultipartUploadsService, type NewPart } from '../../resumable/multipart-uploads.service';
import { intendedFileOf, type ResumableUpload, type UploadPart } from '../../resumable/resumable-upload';
import { type ChosenParts, ResumableUploadsService } from '../../resumable/resumable-uploads.service';
import { fileNotFound, rangeNotSatisfiable, uploadNotFound } from '../../storage.errors';
import { assertSupported, metadataOf } from './object-headers';
import { S3Bodies } from './s3-bodies.service';
import { list } from './s3-buckets.service';
import type { BucketCall, ObjectCall } from './s3-call';
import { quoted, S3Objects, sendXml } from './s3-objects.service';
import { invalidArgument, malformedXml, noSuchUpload, s3Error } from './s3.errors';
import { childrenOf, textIn, type XmlElement } from './xml';

const MAX_PARTS = 10_000;
/** Minimum bytes of each part except the last. */
const SMALLEST_PART = 5 * 1024 * 1024;
const MAX_LISTED = 1_000;

@Injectable()
export class S3Multipart {
  constructor(
    private readonly uploads: MultipartUploadsService,
    private readonly resumable: ResumableUploadsService,
    private readonly objects: S3Objects,
    private readonly contents: FileContentRepository,
    private readonly bodies: S3Bodies,
    private readonly store: ObjectStore,
  ) {}

  async create({ caller, bucket, key, request }: ObjectCall, response: Response): Promise<void> {
    assertSupported(request);
    const options = {
      filename: key,
      metadata: JSON.stringify(metadataOf(request)),
      cacheControl: request.get('cache-control'),
    };
    const type = request.get('content-type') ?? null;
    const UploadId = await this.uploads.create(caller, { bucket, filename: key }, options, type);
    sendXml(response, 'InitiateMultipartUploadResult', { Bucket: bucket, Key: key, UploadId });
  }

  /** UploadPart and UploadPartCopy. */
  async addPart(call: ObjectCall, response: Response): Promise<void> {
    const number = partNumber(call.query.get('partNumber'));
    const upload = await this.find(call);
    if (call.request.headers['x-amz-copy-source'] !== undefined)
      return this.copyPart(call, upload, number, response);
    const { body, release } = await this.bodies.openPart(call, this.store.heldBytes);
    try {
      const etag = (): string => body.digest().toString('hex');
      const part = {
        number,
        announcedLength: body.length,
        source: body.bytes(),
        end: () => body.assertSound(),
        etag,
      };
      await this.uploads.addPart(call.caller, upload, part).catch(translated);
      response.set('ETag', quoted(etag())).status(200).end();
    } finally {
      release();
    }
  }

  private async copyPart(
    call: ObjectCall,
    upload: ResumableUpload,
    number: number,
    response: Response,
  ): Promise<void> {
    const { file } = await this.objects.copySource(call);
    const range = copiedRange(call.request.get('x-amz-copy-source-range'), file.size);
    const part = { number, announcedLength: range.end - range.start + 1, end: () => Promise.resolve() };
    const copy = this.copierOf(file, range);
    const stored = copy
      ? { ...part, source: copy, etag: () => copiedEtag(file, range) }
      : { ...part, ...this.readPart(file, range) };
    await this.uploads.addPart(call.caller, upload, stored).catch(translated);
    sendXml(response, 'CopyPartResult', {
      ETag: quoted(stored.etag()),
      LastModified: new Date().toISOString(),
    });
  }

  /** Undefined if the bytes have to pass through Plinth: the store itself copies whole objects only. */
  private copierOf(
    { address, size }: S3File,
    range: ByteRange,
  ): ((to: ObjectAddress) => Promise<void>) | undefined {
    const { store } = this;
    if (size === 0) return undefined;
    if (range.start === 0 && range.end === size - 1)
      return (to) => store.copy(address, to, size).catch(sourceMissing);
    return store.copyRange && ((to) => store.copyRange!(address, to, range).catch(sourceMissing));
  }

  private readPart({ address }: S3File, range: ByteRange): Pick<NewPart, 'source' | 'etag'> {
    const hash = createHash('md5');
    const { store } = this;
    async function* bytes(): AsyncGenerator<Buffer, void, undefined> {
      if (range.end < range.start) return;
      const found = await store.read(address, range).catch(sourceMissing);
      for await (const chunk of Buffer.isBuffer(found) ? [found] : found) {
        // Copied, because the storing provider may hold a chunk for longer than the reading provider keeps it.
        const copy = Buffer.from(chunk);
        hash.update(copy);
        yield copy;
      }
    }
    let digest: string | undefined;
    return { source: bytes(), etag: () => (digest ??= hash.digest('hex')) };
  }

  async complete(call: ObjectCall, response: Response): Promise<void> {
    const { caller, bucket, key, request } = call;
    const upload = await this.find(call);
    const wanted = childrenOf(await this.bodies.readXml(call, 'CompleteMultipartUpload'), 'Part').map(
      wantedPart,
    );
    if (wanted.length === 0 || wanted.length > MAX_PARTS) throw malformedXml();
    const etag = etagOf(wanted);
    // The response to an earlier request may have been lost.
    if (upload.isCompleted) {
      if ((await this.contents.findS3File(caller, bucket, key))?.etag !== etag) throw noSuchUpload();
    } else {
      if (request.get('if-none-match') !== undefined || request.get('if-match') !== undefined)
        await this.assertMayReplace(call);
      const parts = chosenParts(await this.uploads.parts(caller, upload), wanted);
      await this.resumable.finish(caller, upload, { parts, etag }).catch(translated);
    }
    sendXml(response, 'CompleteMultipartUploadResult', {
      Location: `/${bucket}/${key}`,
      Bucket: bucket,
      Key: key,
      ETag: quoted(etag),
    });
  }

  /** @throws AppError 404 or 412 if the condition of the request is not met */
  private async assertMayReplace(call: ObjectCall): Promise<void> {
    const { upsert } = await this.objects.writeCondition(call);
    const exists = !upsert && (await this.contents.findS3File(call.caller, call.bucket, call.key));
    if (exists) throw s3Error(412, 'PreconditionFailed', 'There is an object with that key');
  }

  async abort(call: ObjectCall, response: Response): Promise<void> {
    const upload = await this.find(call);
    if (upload.isCompleted) throw noSuchUpload();
    await this.uploads.abort(call.caller, upload);
    response.status(204).end();
  }

  async listParts(call: ObjectCall, response: Response): Promise<void> {
    const upload = await this.find(call);
    if (upload.isCompleted) throw noSuchUpload();
    const { limit } = list(call.query, 'max-parts');
    const marker = Number(call.query.get('part-number-marker') ?? 0);
    const following = (await this.uploads.parts(call.caller, upload)).filter(({ start }) => start > marker);
    const shown = following.slice(0, limit);
    const isTruncated = following.length > shown.length;
    sendXml(response, 'ListPartsResult', {
      Bucket: call.bucket,
      Key: call.key,
      UploadId: upload.id,
      PartNumberMarker: marker,
      NextPartNumberMarker: isTruncated ? shown.at(-1)?.start : null,
      MaxParts: limit,
      IsTruncated: isTruncated,
      StorageClass: 'STANDARD',
      Part: shown.map(({ start, size, etag }) => ({
        PartNumber: start,
        ETag: quoted(etag ?? ''),
        Size: size,
      })),
    });
  }

  /** Lists all uploads on one page, in the order of keys; a project has at most a thousand uploads. */
  async list({ caller, bucket, query }: BucketCall, response: Response): Promise<void> {
    const { prefix, text, echo, limit } = list(query, 'max-uploads');
    const [keyMarker, idMarker] = [query.get('key-marker') ?? '', query.get('upload-id-marker') ?? ''];
    const found = (await this.uploads.list(caller))
      .map((upload) => ({ ...intendedFileOf(upload).address, id: upload.id, expiresAt: upload.expiresAt }))
      .filter((upload) => upload.bucket === bucket && upload.filename.startsWith(prefix))
      .sort(
        (left, right) =>
          Buffer.compare(Buffer.from(left.filename), Buffer.from(right.filename)) ||
          (left.id < right.id ? -1 : 1),
      )
      .filter(
        ({ filename, id }) =>
          filename > keyMarker || (filename === keyMarker && idMarker !== '' && id > idMarker),
      );
    const shown = found.slice(0, Math.min(limit, MAX_LISTED));
    const last = found.length > shown.length ? shown.at(-1) : undefined;
    sendXml(response, 'ListMultipartUploadsResult', {
      Bucket: bucket,
      KeyMarker: text(keyMarker),
      UploadIdMarker: idMarker,
      NextKeyMarker: last && text(last.filename),
      NextUploadIdMarker: last?.id,
      Prefix: text(prefix),
      ...echo,
      MaxUploads: limit,
      IsTruncated: last !== undefined,
      Upload: shown.map(({ filename, id, expiresAt }) => ({
        Key: text(filename),
        UploadId: id,
        StorageClass: 'STANDARD',
        // Each part extends the upload's expiry to one day from now.
        Initiated: new Date(expiresAt.getTime() - 86_400_000).toISOString(),
      })),
    });
  }

  private find({ caller, bucket, key, query }: ObjectCall): Promise<ResumableUpload> {
    return this.uploads
      .find(caller, query.get('uploadId') ?? '', { bucket, filename: key })
      .catch(translated);
  }
}

function translated(error: unknown): never {
  const isMissing = error instanceof AppError && error.message === uploadNotFound().message;
  throw isMissing ? noSuchUpload() : error;
}

/** @throws AppError 400 for text that is not a part number */
function partNumber(text: string | null | undefined): number {
  const number = /^\d{1,5}$/.test(text ?? '') ? Number(text) : 0;
  if (number < 1 || number > MAX_PARTS)
    throw invalidArgument(`The number of a part must be 1 to ${MAX_PARTS}`);
  return number;
}

interface WantedPart {
  readonly number: number;
  readonly etag: string;
}

const wantedPart = (part: XmlElement): WantedPart => ({
  number: partNumber(textIn(part, 'PartNumber')),
  etag: (textIn(part, 'ETag') ?? '').trim().replace(/^"|"$/g, ''),
});

/** The MD5 of the MD5s of the parts, and their number. */
function etagOf(parts: readonly WantedPart[]): string {
  const hash = createHash('md5');
  for (const { etag } of parts) hash.update(Buffer.from(etag, 'hex'));
  return `${hash.digest('hex')}-${parts.length}`;
}

/** @throws AppError 400 for parts that are missing, out of order, too small, or have another entity tag */
function chosenParts(stored: readonly UploadPart[], wanted: readonly WantedPart[]): ChosenParts['parts'] {
  if (wanted.some(({ number }, index) => number <= (wanted[index - 1]?.number ?? 0)))
    throw s3Error(400, 'InvalidPartOrder', 'The parts must be listed in the order of their numbers');
  const byNumber = new Map(stored.map((part) => [part.start, part]));
  return wanted.map(({ number, etag }, index) => {
    const part = byNumber.get(number);
    if (part?.etag !== etag)
      throw s3Error(400, 'InvalidPart', `Part ${number} was not uploaded with this entity tag`);
    if (part.size < SMALLEST_PART && index < wanted.length - 1)
      throw s3Error(
        400,
        'EntityTooSmall',
        `Each part but the last must have at least ${SMALLEST_PART} bytes`,
      );
    return part;
  });
}

/** @throws AppError 404 for an object that was deleted in the meantime */
function sourceMissing(error: unknown): never {
  throw error instanceof ObjectMissingError ? fileNotFound() : error;
}

/** The entity tag of a part that the store copied: the MD5 of its bytes if that is known. */
function copiedEtag({ etag, size }: S3File, { start, end }: ByteRange): string {
  if (end - start + 1 === size && !etag.includes('-')) return etag;
  return createHash('md5').update(`${etag} ${start}-${end}`).digest('hex');
}

/** Parses a range whose ends are inclusive. @throws AppError 400 for a malformed range, 416 for a range beyond the object */
function copiedRange(header: string | undefined, size: number): ByteRange {
  if (header === undefined) return { start: 0, end: size - 1 };
  const [, first = '', last = ''] = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(header) ?? [];
  const [start, end] = [Number(first), Number(last)];
  if (first === '' || end < start) throw invalidArgument('x-amz-copy-source-range must be bytes=first-last');
  if (end >= size) throw rangeNotSatisfiable(size);
  return { start, end };
}
