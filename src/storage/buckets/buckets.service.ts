/** Creates, reads, changes and deletes buckets. Policies in the database decide what a caller may do. */
import { Injectable } from '@nestjs/common';
import { JsonRows } from '../rows/json-rows';
import { bucketNotFound, forbidden, invalidParameters } from '../storage.errors';
import { Bucket, BucketChange, NewBucket } from './bucket';
import { parseCacheControl } from './cache-control';
import { BucketPage, BucketRepository, Refusal } from './bucket.repository';
import { StorageContext } from '../storage-transaction';

/** Maximum bytes of a name in UTF-8: one line of any Unicode text. */
const MAX_NAME_BYTES = 255;
const UNUSABLE = /[\p{Cc}\p{Surrogate}]/u;

@Injectable()
export class BucketsService {
  constructor(private readonly buckets: BucketRepository) {}

  /** @throws AppError 400 for an invalid value, 409 if the name or slug is taken, 403 if a policy refuses */
  async create(caller: StorageContext, bucket: NewBucket): Promise<Bucket> {
    assertBucketName(bucket.name);
    return this.buckets.insert(caller, normalised(bucket));
  }

  /** The buckets that the caller may see, sorted by name. */
  list(caller: StorageContext): Promise<JsonRows> {
    return this.buckets.list(caller);
  }

  page(caller: StorageContext, page: BucketPage): Promise<Bucket[]> {
    return this.buckets.page(caller, page);
  }

  /** @param address slug or name @throws AppError 404 if there is no such bucket, or the caller may not see it */
  async get(caller: StorageContext, address: string): Promise<Bucket> {
    const bucket = await this.buckets.find(caller, address);
    if (!bucket) throw bucketNotFound();
    return bucket;
  }

  /**
   * @throws AppError 400 for an invalid value, 404 if there is no such bucket or the caller may not see it,
   * 403 if a policy refuses, 409 if the name or slug is taken
   */
  async updateBucket(caller: StorageContext, address: string, change: BucketChange): Promise<Bucket> {
    if (change.name !== undefined) assertBucketName(change.name);
    return this.unlessRefused(
      await this.buckets.updateBucket(caller, address, normalised(change)),
      caller,
      address,
    );
  }

  /**
   * Deletes the bucket; its files stay and become private.
   * @throws AppError 404 if there is no such bucket or the caller may not see it, 403 if a policy refuses
   */
  async remove(caller: StorageContext, address: string): Promise<Bucket> {
    return this.unlessRefused(await this.buckets.remove(caller, address), caller, address);
  }

  /** The bucket, or the error for a refusal. A bucket that was deleted in the meantime gives 404 rather than 403. */
  private async unlessRefused(
    outcome: Bucket | Refusal,
    caller: StorageContext,
    address: string,
  ): Promise<Bucket> {
    if (outcome === 'not_found') throw bucketNotFound();
    if (outcome === 'forbidden')
      throw (await this.buckets.find(caller, address)) ? forbidden() : bucketNotFound();
    return outcome;
  }
}

/** The same with a normalised `cache_control`. @throws AppError 400 for an invalid value */
function normalised<T extends BucketChange>(change: T): T {
  const { cache_control: value } = change;
  return typeof value === 'string' ? { ...change, cache_control: parseCacheControl(value) } : change;
}

/** @throws AppError 400 with the reason */
function assertBucketName(name: string): void {
  if (name.trim() === '') throw invalidParameters('name must not be empty');
  if (UNUSABLE.test(name)) throw invalidParameters('name must not contain control characters');
  if (name === '.' || name === '..') throw invalidParameters('name must not be . or ..');
  if (Buffer.byteLength(name) > MAX_NAME_BYTES)
    throw invalidParameters(`name must not be longer than ${MAX_NAME_BYTES} bytes`);
}
