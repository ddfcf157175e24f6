/** Creates, shows, changes and deletes buckets. What a caller may is decided by the policies in the database. */
import { Injectable } from '@nestjs/common';
import { bucketNotFound, forbidden } from '../storage.errors';
import { Bucket, BucketChange, NewBucket } from './bucket';
import { assertBucketName } from './bucket-name';
import { parseCacheControl } from './cache-control';
import { BucketRepository, Refusal } from './bucket.repository';
import { StorageContext } from '../storage-transaction';

@Injectable()
export class BucketsService {
  constructor(private readonly buckets: BucketRepository) {}

  /** @throws AppError 400, 409 when name or slug is taken, 403 */
  async create(caller: StorageContext, bucket: NewBucket): Promise<Bucket> {
    assertBucketName(bucket.name);
    return this.buckets.insert(caller, checked(bucket));
  }

  /** Those that the caller may see, by name: in JSON with commas between, in pieces of any size. */
  list(caller: StorageContext): Promise<Buffer[]> {
    return this.buckets.list(caller);
  }

  /** @param address slug or name @throws AppError 404 */
  async get(caller: StorageContext, address: string): Promise<Bucket> {
    const bucket = await this.buckets.find(caller, address);
    if (!bucket) throw bucketNotFound();
    return bucket;
  }

  /** @throws AppError 400, 404, 403, 409 */
  async update(caller: StorageContext, address: string, change: BucketChange): Promise<Bucket> {
    if (change.name !== undefined) assertBucketName(change.name);
    return this.done(await this.buckets.update(caller, address, checked(change)), caller, address);
  }

  /** Deletes the bucket and leaves its files, which are private from then on. @throws AppError 404, 403 */
  async remove(caller: StorageContext, address: string): Promise<Bucket> {
    return this.done(await this.buckets.remove(caller, address), caller, address);
  }

  /** What went while the request was under way is not protected, but gone. */
  private async done(outcome: Bucket | Refusal, caller: StorageContext, address: string): Promise<Bucket> {
    if (outcome === 'not_found') throw bucketNotFound();
    if (outcome === 'forbidden')
      throw (await this.buckets.find(caller, address)) ? forbidden() : bucketNotFound();
    return outcome;
  }
}

/** @throws AppError 400 */
function checked<T extends BucketChange>(change: T): T {
  const { cache_control: value } = change;
  return typeof value === 'string' ? { ...change, cache_control: parseCacheControl(value) } : change;
}
