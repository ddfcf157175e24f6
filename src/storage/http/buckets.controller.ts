/** Buckets (SPEC.md 4.1). `:bucket_name` is the slug or the name. */
import { Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import { ApiBody, ApiOperation } from '@nestjs/swagger';
import { Caller } from '../../access/caller';
import { CurrentCaller } from '../../access/current-caller.decorator';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { Bucket } from '../buckets/bucket';
import { BucketsService } from '../buckets/buckets.service';
import { JsonRows } from '../rows/json-rows';
import { CreateBucketDto, UpdateBucketDto } from './dto/buckets.dto';
import { BucketDto } from './dto/records';
import { BucketAddressPipe } from './dto/text';
import { Failures, StorageApi, Success } from './storage-api.decorator';

@StorageApi()
@Controller('p/:project_slug/storage/buckets')
export class BucketsController {
  constructor(private readonly buckets: BucketsService) {}

  @Post()
  @ApiOperation({ summary: 'Create a bucket', operationId: 'createBucket' })
  @ApiBody({ type: CreateBucketDto })
  @Success(201, 'The bucket', BucketDto)
  @Failures(403, 404, 409, 413, 415)
  create(@CurrentCaller() caller: Caller, @StrictBody() body: CreateBucketDto): Promise<Bucket> {
    return this.buckets.create(caller, body);
  }

  @Get()
  @ApiOperation({ summary: 'List the buckets that the caller may see', operationId: 'listBuckets' })
  @Success(200, 'By name', [BucketDto])
  @Failures(404)
  list(@CurrentCaller() caller: Caller): Promise<JsonRows> {
    return this.buckets.list(caller);
  }

  @Get(':bucket_name')
  @ApiOperation({ summary: 'Get bucket info', operationId: 'getBucket' })
  @Success(200, 'The bucket', BucketDto)
  @Failures(404)
  get(
    @CurrentCaller() caller: Caller,
    @Param('bucket_name', BucketAddressPipe) address: string,
  ): Promise<Bucket> {
    return this.buckets.get(caller, address);
  }

  @Patch(':bucket_name')
  @ApiOperation({ summary: 'Change a bucket; its slug follows its name', operationId: 'updateBucket' })
  @ApiBody({ type: UpdateBucketDto })
  @Success(200, 'The bucket', BucketDto)
  @Failures(403, 404, 409, 413, 415)
  update(
    @CurrentCaller() caller: Caller,
    @Param('bucket_name', BucketAddressPipe) address: string,
    @StrictBody() body: UpdateBucketDto,
  ): Promise<Bucket> {
    return this.buckets.update(caller, address, body);
  }

  @Delete(':bucket_name')
  @ApiOperation({ summary: 'Delete a bucket; its files stay, private', operationId: 'deleteBucket' })
  @Success(200, 'The bucket as it was', BucketDto)
  @Failures(403, 404)
  remove(
    @CurrentCaller() caller: Caller,
    @Param('bucket_name', BucketAddressPipe) address: string,
  ): Promise<Bucket> {
    return this.buckets.remove(caller, address);
  }
}
