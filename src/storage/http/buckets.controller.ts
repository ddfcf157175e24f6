/** Buckets. `:bucket_name` is the slug or the name. */
import { Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import { Caller } from '../../access/caller';
import { CurrentCaller } from '../../access/current-caller.decorator';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { Bucket } from '../buckets/bucket';
import { BucketRepository } from '../buckets/bucket.repository';
import { JsonRows } from '../rows/json-rows';
import { CreateBucketDto, UpdateBucketDto } from './dto/buckets.dto';
import { BucketResponse } from './dto/storage-responses';
import { BucketAddressPipe } from './dto/text';
import { StorageApi, Success } from './storage-api.decorator';
import { invalidParameters, forbidden, bucketNotFound, bucketAlreadyExists } from '../storage.errors';
import { Describe, Errors, PathErrors } from '../../http/docs/operation.decorators';

@StorageApi()
@PathErrors({ ':bucket_name': bucketNotFound() })
@Controller('p/:project_slug/storage/buckets')
export class BucketsController {
  constructor(private readonly buckets: BucketRepository) {}

  @Post()
  @Describe(`Create a bucket
    Needs apikey and bearer; the project's policies apply. A bucket created by a signed-in user belongs to that user. One created with the service-role key belongs to the project, and signed-in users may upload to it. The slug, for use in paths, is derived from the name.`)
  @Success(201, 'The bucket', BucketResponse)
  @Errors(invalidParameters('name must be a string'), forbidden(), bucketAlreadyExists())
  createBucket(@CurrentCaller() caller: Caller, @StrictBody() body: CreateBucketDto): Promise<Bucket> {
    return this.buckets.insert(caller, body);
  }

  @Get()
  @Describe(`List the buckets that the caller may see
    Needs apikey and bearer; the project's policies apply. Returns all buckets at once, without their files.`)
  @Success(200, 'The buckets, sorted by name', [BucketResponse])
  listBuckets(@CurrentCaller() caller: Caller): Promise<JsonRows> {
    return this.buckets.list(caller);
  }

  @Get(':bucket_name')
  @Describe(`Get bucket info
    Needs apikey and bearer; the project's policies apply. A bucket that the caller may not see is a 404.`)
  @Success(200, 'The bucket', BucketResponse)
  getBucket(
    @CurrentCaller() caller: Caller,
    @Param('bucket_name', BucketAddressPipe) address: string,
  ): Promise<Bucket> {
    return this.buckets.get(caller, address);
  }

  @Patch(':bucket_name')
  @Describe(`Update a bucket
    Needs apikey and bearer; the project's policies apply. Omitted members keep their values; null removes a limit. New limits apply to later uploads, not to existing files. A new name changes the slug.`)
  @Success(200, 'The updated bucket', BucketResponse)
  @Errors(invalidParameters('is_public must be a boolean value'), forbidden(), bucketAlreadyExists())
  updateBucket(
    @CurrentCaller() caller: Caller,
    @Param('bucket_name', BucketAddressPipe) address: string,
    @StrictBody() body: UpdateBucketDto,
  ): Promise<Bucket> {
    return this.buckets.updateBucket(caller, address, body);
  }

  @Delete(':bucket_name')
  @Describe(`Delete a bucket and keep its files
    Needs apikey and bearer; the project's policies apply. Its files keep their ids, and their owner and the service-role key can still access them. A new bucket of the same name does not contain them.`)
  @Success(200, 'The deleted bucket', BucketResponse)
  @Errors(forbidden())
  deleteBucket(
    @CurrentCaller() caller: Caller,
    @Param('bucket_name', BucketAddressPipe) address: string,
  ): Promise<Bucket> {
    return this.buckets.remove(caller, address);
  }
}
