/** Operations on buckets. Each sends its own response. */
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { Bucket } from '../../buckets/bucket';
import { BucketRepository } from '../../buckets/bucket.repository';
import { type Entry, EntryListRepository } from '../../files/entry-list.repository';
import { NamedFilesService } from '../../files/named-files.service';
import { bucketNotEmpty } from '../../storage.errors';
import { type BucketCall, ownerOf, type S3Call } from './s3-call';
import { assertPrivateAcl } from './object-headers';
import { quoted, sendXml } from './s3-objects.service';
import { accessDenied, invalidArgument, notImplemented, s3Error } from './s3.errors';
import { encode } from './signature';
import type { XmlMembers } from './xml';

/** Maximum number of buckets in a list, and of entries on a page. */
const MAX_BUCKETS = 1_000;
const MAX_KEYS = 1_000;
const NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/** The position of a page in a list. */
type After = { readonly name: string; readonly isFolder: boolean } | null;

@Injectable()
export class S3Buckets {
  constructor(
    private readonly buckets: BucketRepository,
    private readonly files: NamedFilesService,
    private readonly lists: EntryListRepository,
  ) {}

  async list({ caller, only, query }: S3Call, response: Response): Promise<void> {
    const page = { limit: MAX_BUCKETS, offset: 0, search: '', sortBy: 'name', sortDir: 'asc' } as const;
    const all = await this.buckets.page(caller, page);
    const own = only === null ? all : all.filter(({ name, slug }) => name === only || slug === only);
    const limit = wholeNumber(query.get('max-buckets') ?? String(MAX_BUCKETS), 'max-buckets');
    const start = startOf(query.get('continuation-token'), own.length);
    const prefix = query.get('prefix') ?? '';
    const matching = own.filter((bucket) => nameOf(bucket).startsWith(prefix));
    const shown = matching.slice(start, start + limit);
    const next = start + shown.length < matching.length && limit > 0 ? start + shown.length : null;
    const Bucket = shown.map((bucket) => ({ Name: nameOf(bucket), CreationDate: bucket.created_at }));
    sendXml(response, 'ListAllMyBucketsResult', {
      Owner: ownerOf(caller),
      Buckets: { Bucket },
      ContinuationToken: next,
    });
  }

  async create({ caller, bucket, only, request }: BucketCall, response: Response): Promise<void> {
    if (only !== null) throw accessDenied('The key is bound to a bucket');
    if (!NAME.test(bucket))
      throw s3Error(400, 'InvalidBucketName', 'The name of a bucket must have 3 to 63 of a-z, 0-9, . and -');
    if (request.get('x-amz-bucket-object-lock-enabled') === 'true') throw notImplemented('Object lock');
    // The location in the body is ignored, because there is only one location. The body itself is discarded
    // when the connection ends.
    await this.buckets.insert(caller, { name: bucket });
    response
      .set('Location', `/${encode(bucket)}`)
      .status(200)
      .end();
  }

  async head({ caller, bucket }: BucketCall, response: Response): Promise<void> {
    await this.buckets.get(caller, bucket);
    response.set('x-amz-bucket-region', REGION).status(200).end();
  }

  async remove({ caller, bucket }: BucketCall, response: Response): Promise<void> {
    await this.files.removeEmptyBucket(caller, bucket).catch((error: unknown) => {
      throw isNotEmpty(error) ? s3Error(409, 'BucketNotEmpty', error.message) : error;
    });
    response.status(204).end();
  }

  /** Properties that are the same for every bucket. */
  async describe(
    { caller, bucket }: BucketCall,
    response: Response,
    root: string,
    members: XmlMembers = {},
  ): Promise<void> {
    await this.buckets.get(caller, bucket);
    sendXml(response, root, members);
  }

  /** ListObjects and ListObjectsV2. */
  async listObjects(call: BucketCall, response: Response): Promise<void> {
    const { query } = call;
    const isSecond = query.get('list-type') === '2';
    const token = isSecond ? query.get('continuation-token') || undefined : undefined;
    const start = query.get(isSecond ? 'start-after' : 'marker') ?? '';
    const { listing, entries, last, page } = await this.pageOf(call, start, token);
    const { text } = listing;
    const owner = !isSecond || query.get('fetch-owner') === 'true' ? ownerOf(call.caller) : null;
    sendXml(response, 'ListBucketResult', {
      ...page,
      ...(isSecond
        ? {
            ContinuationToken: query.get('continuation-token'),
            StartAfter: query.has('start-after') ? text(start) : null,
            NextContinuationToken: last && formatToken(last),
            KeyCount: entries.length,
          }
        : { Marker: text(start), NextMarker: last && listing.delimiter !== null ? text(last.name) : null }),
      Contents: entries
        .filter(({ isFolder }) => !isFolder)
        .map((entry) => ({ ...contents(entry, text), Owner: owner })),
    });
  }

  /** ListObjectVersions: each object is its only version, as in an S3 bucket in which versioning was never enabled. */
  async listVersions(call: BucketCall, response: Response): Promise<void> {
    const marker = call.query.get('key-marker') ?? '';
    const { listing, entries, last, page } = await this.pageOf(call, marker);
    sendXml(response, 'ListVersionsResult', {
      ...page,
      KeyMarker: listing.text(marker),
      NextKeyMarker: last && listing.text(last.name),
      NextVersionIdMarker: last && 'null',
      Version: entries
        .filter(({ isFolder }) => !isFolder)
        .map((entry) => ({
          ...contents(entry, listing.text),
          VersionId: 'null',
          IsLatest: true,
          Owner: ownerOf(call.caller),
        })),
    });
  }

  /**
   * PutBucketAcl: accepts only the ACL that every bucket has.
   * @throws AppError 404 for an unknown bucket, 501 for any other ACL
   */
  async putAcl({ caller, bucket, request }: BucketCall, response: Response): Promise<void> {
    await this.buckets.get(caller, bucket);
    assertPrivateAcl(request);
    response.status(200).end();
  }

  private async pageOf({ caller, bucket, query }: BucketCall, start: string, token?: string) {
    const listing = list(query);
    const { prefix, delimiter, limit, text } = listing;
    const after = token === undefined ? place(start, prefix, delimiter) : parseToken(token);
    const wanted = { bucket, prefix, delimiter, after, limit: limit === 0 ? 0 : limit + 1 };
    const found = await this.lists.listMixed(caller, wanted);
    const entries = found.slice(0, limit);
    const isTruncated = found.length > entries.length;
    const page = {
      Name: bucket,
      Prefix: text(prefix),
      ...listing.echo,
      MaxKeys: limit,
      IsTruncated: isTruncated,
      CommonPrefixes: entries.filter(({ isFolder }) => isFolder).map(({ name }) => ({ Prefix: text(name) })),
    };
    return { listing, entries, last: isTruncated ? (entries.at(-1) ?? null) : null, page };
  }
}

const REGION = 'us-east-1';

/** The name of a bucket. If another surface gave it a name that S3 does not allow, its slug. */
const nameOf = ({ name, slug }: Bucket): string => (NAME.test(name) ? name : slug);

function isNotEmpty(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === bucketNotEmpty(1).code;
}

/** The parameters that all lists share. @throws AppError 400 for an invalid parameter, 501 for an unsupported encoding */
export function list(query: S3Call['query'], limitName = 'max-keys') {
  const encoding = query.get('encoding-type') ?? null;
  if (encoding !== null && encoding !== 'url') throw invalidArgument('encoding-type must be url');
  const given = query.get(limitName) ?? String(MAX_KEYS);
  const delimiter = query.get('delimiter') ?? '';
  if ([...delimiter].length > 1) throw notImplemented('A delimiter of several characters');
  const prefix = query.get('prefix') ?? '';
  for (const text of [prefix, delimiter, query.get('marker') ?? '', query.get('start-after') ?? ''])
    if (text.includes('\0')) throw invalidArgument('A parameter holds a NUL');
  const text = (value: string): string => (encoding === null ? value : encode(value).replaceAll('%2F', '/'));
  return {
    prefix,
    delimiter: delimiter === '' ? null : delimiter,
    limit: Math.min(wholeNumber(given, limitName), MAX_KEYS),
    text,
    echo: { Delimiter: delimiter === '' ? null : text(delimiter), EncodingType: encoding },
  };
}

/** @throws AppError 400 for text that is not a whole number */
function wholeNumber(text: string, name: string): number {
  if (!/^\d{1,10}$/.test(text)) throw invalidArgument(`${name} must be a whole number`);
  return Number(text);
}

/** The position of a page of buckets. @throws AppError 400 for an invalid token */
const startOf = (token: string | undefined, length: number): number =>
  token === undefined ? 0 : Math.min(wholeNumber(token, 'continuation-token'), length);

function contents({ name, file }: Entry, text: (value: string) => string): XmlMembers {
  return {
    Key: text(name),
    LastModified: file?.updated_at,
    ETag: quoted(file?.etag ?? ''),
    Size: file?.size,
    StorageClass: 'STANDARD',
  };
}

/** If the marker is a folder of the list, the page begins after everything in it. */
function place(start: string, prefix: string, delimiter: string | null): After {
  if (start === '') return null;
  const first = delimiter === null ? -1 : start.indexOf(delimiter, prefix.length);
  return { name: start, isFolder: start.startsWith(prefix) && first >= 0 && first === start.length - 1 };
}

const formatToken = ({ name, isFolder }: Entry): string =>
  Buffer.from(JSON.stringify([name, isFolder])).toString('base64url');

/** @throws AppError 400 for a token that another list did not return */
function parseToken(token: string): After {
  try {
    const value: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    const [name, isFolder] = Array.isArray(value) ? (value as unknown[]) : [];
    if (
      typeof name === 'string' &&
      !name.includes('\0') &&
      name.isWellFormed() &&
      typeof isFolder === 'boolean'
    )
      return { name, isFolder };
  } catch {
    // Malformed, as below.
  }
  throw invalidArgument('The continuation token is not one of this list');
}
