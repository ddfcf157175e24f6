/** Buckets for storage-js. `:bucket_name` is the name or the slug. */
import { Body, Controller, Delete, Get, Param, Post, Put, Query } from '@nestjs/common';
import { Caller } from '../../../access/caller';
import { CurrentCaller } from '../../../access/current-caller.decorator';
import { Describe, Errors, PathErrors } from '../../../http/docs/operation.decorators';
import { BucketRepository } from '../../buckets/bucket.repository';
import { NamedFilesService } from '../../files/named-files.service';
import { bucketAlreadyExists, bucketNotEmpty, bucketNotFound, invalidParameters } from '../../storage.errors';
import { BucketAddressPipe } from '../dto/text';
import {
  bucketChange,
  BucketNameResponse,
  CreateStorageBucketDto,
  ListBucketsQuery,
  MAX_BUCKETS_OF_A_PAGE,
  StorageBucketResponse,
  StorageMessageResponse,
  toStorageBucket,
  UpdateStorageBucketDto,
} from './dto/buckets.dto';
import { STORAGE_JS, StorageJsApi, Success } from './storage-js-api.decorator';

@StorageJsApi()
@PathErrors({ ':bucket_name': bucketNotFound() })
@Controller(`${STORAGE_JS}/bucket`)
export class StorageBucketsController {
  constructor(
    private readonly buckets: BucketRepository,
    private readonly files: NamedFilesService,
  ) {}

  @Post()
  @Describe(`Create a bucket (storage-js)
    Its id is its name. A bucket of a signed-in user belongs to that user, one of the service-role key to the project.`)
  @Success(200, 'The name', BucketNameResponse)
  @Errors(invalidParameters('name must be a string'), bucketAlreadyExists())
  async createStorageBucket(
    @CurrentCaller() caller: Caller,
    @Body() body: CreateStorageBucketDto,
  ): Promise<BucketNameResponse> {
    if (body.id !== undefined && body.id !== body.name)
      throw invalidParameters('id must be the same as name');
    const { name } = await this.buckets.insert(caller, { ...bucketChange(body), name: body.name });
    return { name };
  }

  @Get()
  @Describe(`List the buckets that the caller may see (storage-js)
    One page of them; the policies of the project apply.`)
  @Success(200, 'The buckets', [StorageBucketResponse])
  @Errors(invalidParameters('limit must not be greater than 1000'))
  async listStorageBuckets(
    @CurrentCaller() caller: Caller,
    @Query() query: ListBucketsQuery,
  ): Promise<StorageBucketResponse[]> {
    const { limit = MAX_BUCKETS_OF_A_PAGE, offset = 0, search = '', sortColumn, sortOrder = 'asc' } = query;
    const sortBy = sortColumn === 'id' ? 'name' : (sortColumn ?? 'name');
    const buckets = await this.buckets.page(caller, { limit, offset, search, sortBy, sortDir: sortOrder });
    return buckets.map(toStorageBucket);
  }

  @Get(':bucket_name')
  @Describe(`Get a bucket (storage-js)
    By its name. A bucket that the caller may not see is a 404.`)
  @Success(200, 'The bucket', StorageBucketResponse)
  async getStorageBucket(
    @CurrentCaller() caller: Caller,
    @Param('bucket_name', BucketAddressPipe) address: string,
  ): Promise<StorageBucketResponse> {
    return toStorageBucket(await this.buckets.get(caller, address));
  }

  @Put(':bucket_name')
  @Describe(`Update a bucket (storage-js)
    Members that are left out keep their values; null removes a limit.`)
  @Success(200, 'A message', StorageMessageResponse)
  @Errors(invalidParameters('public must be a boolean value'))
  async updateStorageBucket(
    @CurrentCaller() caller: Caller,
    @Param('bucket_name', BucketAddressPipe) address: string,
    @Body() body: UpdateStorageBucketDto,
  ): Promise<StorageMessageResponse> {
    await this.buckets.updateBucket(caller, address, bucketChange(body));
    return { message: 'Successfully updated' };
  }

  @Post(':bucket_name/empty')
  @Describe(`Delete all files of a bucket (storage-js)
    Files that the caller may not delete stay.`)
  @Success(200, 'A message', StorageMessageResponse)
  async emptyStorageBucket(
    @CurrentCaller() caller: Caller,
    @Param('bucket_name', BucketAddressPipe) address: string,
  ): Promise<StorageMessageResponse> {
    await this.files.emptyBucket(caller, address);
    // The text is Supabase's. The files are already deleted.
    return { message: 'Empty bucket has been queued. Completion may take up to an hour.' };
  }

  @Delete(':bucket_name')
  @Describe(`Delete an empty bucket (storage-js)
    Refused while the bucket holds files, those included that the caller may not see.`)
  @Success(200, 'A message', StorageMessageResponse)
  @Errors(bucketNotEmpty(3))
  async deleteStorageBucket(
    @CurrentCaller() caller: Caller,
    @Param('bucket_name', BucketAddressPipe) address: string,
  ): Promise<StorageMessageResponse> {
    await this.files.removeEmptyBucket(caller, address);
    return { message: 'Successfully deleted' };
  }
}
