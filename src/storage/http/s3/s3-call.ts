/** A request of the S3 protocol whose signature was verified. */
import type { Request } from 'express';
import type { Caller } from '../../../access/caller';
import { isStorableText } from '../../../common/text/storable';
import type { FileAddress } from '../../files/named-files.service';
import { bucketNotFound, fileNotFound } from '../../storage.errors';
import { accessDenied, invalidRequest, s3Error } from './s3.errors';
import { type ChunkSigner, decode } from './signature';
import type { XmlMembers } from './xml';

export interface S3Call {
  readonly caller: Caller;
  readonly request: Request;
  readonly query: ReadonlyMap<string, string>;
  /** The signed x-amz-content-sha256. */
  readonly payload: string;
  readonly signer: ChunkSigner;
  /** The only bucket that the key can reach; null for all buckets. */
  readonly only: string | null;
  /** Null for operations on all buckets. */
  readonly bucket: string | null;
  /** Null for operations on buckets. */
  readonly key: string | null;
}

/** A call for a bucket. */
export type BucketCall = S3Call & { readonly bucket: string };
/** A call for an object. */
export type ObjectCall = BucketCall & { readonly key: string };

/** The S3Call of a request; its route must use S3Guard. */
export function callOf({ s3Call }: Request): S3Call {
  if (!s3Call) throw new Error('this route lacks S3Guard');
  return s3Call;
}

const PATH = /^\/p\/[^/]+\/storage\/v1\/s3(?:\/([^/]*)(?:\/(.*))?)?$/s;
/** Maximum bytes of a key. */
const MAX_KEY = 1_024;

/** @throws AppError 400, 404 for text that no bucket or file can have */
export function addressOf(url: string): Pick<S3Call, 'bucket' | 'key'> {
  const [path = ''] = url.split('?', 1);
  const [, bucket = '', key = ''] = (PATH.exec(path) ?? []).map((part: string | undefined) =>
    decode(part ?? ''),
  );
  if (!isStorableText(bucket)) throw bucketNotFound();
  if (!isStorableText(key)) throw fileNotFound();
  if (Buffer.byteLength(key) > MAX_KEY)
    throw s3Error(400, 'KeyTooLongError', `A key may have at most ${MAX_KEY} bytes`);
  return { bucket: bucket === '' ? null : bucket, key: key === '' ? null : key };
}

/**
 * The bucket and the key in `bucket/key`, which is percent-encoded.
 * @throws AppError 400 for other text, 403 for a bucket that the key cannot reach, 404 for text that no
 * bucket or file can have
 */
export function sourceOf({ only }: S3Call, header: string): { address: FileAddress } {
  const [path = '', version] = header.replace(/^\//, '').split('?versionId=', 2);
  if (version !== undefined && version !== 'null') throw fileNotFound();
  const [bucket = '', ...key] = path.split('/');
  const address = { bucket: decode(bucket), filename: decode(key.join('/')) };
  if (address.bucket === '' || address.filename === '')
    throw invalidRequest('x-amz-copy-source must be bucket/key');
  if (!isStorableText(address.bucket + address.filename)) throw fileNotFound();
  assertReachable(only, address.bucket);
  return { address };
}

/** @throws AppError 403 for a bucket that the key cannot reach */
export function assertReachable(only: string | null, bucket: string | null): void {
  if (only !== null && bucket !== null && bucket !== only)
    throw accessDenied('The key is bound to another bucket');
}

export const ownerOf = ({ project }: Caller): XmlMembers => ({ ID: project.slug, DisplayName: project.name });

const GRANTEE = 'Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser"';

/** The owner has all rights, as in S3 with ACLs turned off. */
export const aclOf = (caller: Caller): XmlMembers => ({
  Owner: ownerOf(caller),
  AccessControlList: { Grant: { [GRANTEE]: ownerOf(caller), Permission: 'FULL_CONTROL' } },
});
