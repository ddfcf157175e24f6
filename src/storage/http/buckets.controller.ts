/** Buckets (SPEC.md 4.1). `:bucket_name` is the slug or the name. */
import { Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { Caller } from '../../access/caller';
import { CurrentCaller } from '../../access/current-caller.decorator';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { Bucket } from '../buckets/bucket';
import { BucketsService } from '../buckets/buckets.service';
import { JsonRows } from '../rows/json-rows';
import { CreateBucketDto, UpdateBucketDto } from './dto/buckets.dto';
import { BucketDto } from './dto/records';
import { BucketAddressPipe } from './dto/text';
import { Failures, StorageApi, Success, ACCESS_ERRORS, BucketParam } from './storage-api.decorator';
import { JsonBody } from '../../http/docs/answer.decorator';
import { JSON_BODY_ERRORS } from '../../http/docs/standard-errors';
import { invalidParameters, forbidden, bucketNotFound, bucketAlreadyExists } from '../storage.errors';

@StorageApi()
@Controller('p/:project_slug/storage/buckets')
export class BucketsController {
  constructor(private readonly buckets: BucketsService) {}

  @Post()
  @ApiOperation({
    operationId: 'createBucket',
    summary: 'Create a bucket',
    description:
      "Needs apikey and bearer; the project's policies apply. A bucket created by a signed-in user belongs to that user. One created with the service-role key belongs to the project, and signed-in users may upload to it. The slug, for use in paths, is derived from the name.",
  })
  @JsonBody(CreateBucketDto)
  @Success(201, 'The bucket', BucketDto)
  @Failures(
    invalidParameters('name must be a string'),
    forbidden(),
    bucketAlreadyExists(),
    JSON_BODY_ERRORS,
    ACCESS_ERRORS,
  )
  create(@CurrentCaller() caller: Caller, @StrictBody() body: CreateBucketDto): Promise<Bucket> {
    return this.buckets.create(caller, body);
  }

  @Get()
  @ApiOperation({
    operationId: 'listBuckets',
    summary: 'List the buckets that the caller may see',
    description:
      "Needs apikey and bearer; the project's policies apply. Returns all buckets at once, without their files.",
  })
  @Success(200, 'The buckets, sorted by name', [BucketDto])
  @Failures(ACCESS_ERRORS)
  list(@CurrentCaller() caller: Caller): Promise<JsonRows> {
    return this.buckets.list(caller);
  }

  @Get(':bucket_name')
  @ApiOperation({
    operationId: 'getBucket',
    summary: 'Get bucket info',
    description:
      "Needs apikey and bearer; the project's policies apply. A bucket that the caller may not see is a 404.",
  })
  @BucketParam()
  @Success(200, 'The bucket', BucketDto)
  @Failures(bucketNotFound(), ACCESS_ERRORS)
  get(
    @CurrentCaller() caller: Caller,
    @Param('bucket_name', BucketAddressPipe) address: string,
  ): Promise<Bucket> {
    return this.buckets.get(caller, address);
  }

  @Patch(':bucket_name')
  @ApiOperation({
    operationId: 'updateBucket',
    summary: 'Update a bucket',
    description:
      "Needs apikey and bearer; the project's policies apply. Omitted members keep their values; null removes a limit. New limits apply to later uploads, not to existing files. A new name changes the slug.",
  })
  @BucketParam()
  @JsonBody(UpdateBucketDto)
  @Success(200, 'The updated bucket', BucketDto)
  @Failures(
    invalidParameters('is_public must be a boolean value'),
    forbidden(),
    bucketNotFound(),
    bucketAlreadyExists(),
    JSON_BODY_ERRORS,
    ACCESS_ERRORS,
  )
  update(
    @CurrentCaller() caller: Caller,
    @Param('bucket_name', BucketAddressPipe) address: string,
    @StrictBody() body: UpdateBucketDto,
  ): Promise<Bucket> {
    return this.buckets.update(caller, address, body);
  }

  @Delete(':bucket_name')
  @ApiOperation({
    operationId: 'deleteBucket',
    summary: 'Delete a bucket and keep its files',
    description:
      "Needs apikey and bearer; the project's policies apply. Its files keep their ids, and their owner and the service-role key can still access them. A new bucket of the same name does not contain them.",
  })
  @BucketParam()
  @Success(200, 'The deleted bucket', BucketDto)
  @Failures(forbidden(), bucketNotFound(), ACCESS_ERRORS)
  remove(
    @CurrentCaller() caller: Caller,
    @Param('bucket_name', BucketAddressPipe) address: string,
  ): Promise<Bucket> {
    return this.buckets.remove(caller, address);
  }
}
