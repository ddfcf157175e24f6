/** Files for storage-js, by bucket and name: lists, facts, moves, copies, deletions. */
import { Body, Controller, Delete, Get, Param, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { Caller } from '../../../access/caller';
import { CurrentCaller } from '../../../access/current-caller.decorator';
import { Describe, Errors } from '../../../http/docs/operation.decorators';
import { EntryListRepository } from '../../files/entry-list.repository';
import { FileAddress, NamedFilesService } from '../../files/named-files.service';
import { bucketNotFound, fileAlreadyExists, fileNotFound, invalidParameters } from '../../storage.errors';
import { BucketAddressPipe } from '../dto/text';
import { StorageMessageResponse } from './dto/buckets.dto';
import {
  ListObjectsDto,
  ListObjectsV2Dto,
  MAX_ENTRIES,
  MoveObjectDto,
  ObjectEntryResponse,
  ObjectInfoResponse,
  ObjectKeyResponse,
  ObjectPageResponse,
  RemovedObjectResponse,
  RemoveObjectsDto,
  SortDto,
} from './dto/objects.dto';
import { OBJECT, objectOf, ObjectPath } from './object-path';
import {
  parseCursor,
  toObjectEntry,
  toObjectInfo,
  toObjectKey,
  toObjectPage,
  toRemovedObject,
} from './object-views';
import { STORAGE_JS, StorageJsApi, Success } from './storage-js-api.decorator';

const DEFAULT_ENTRIES = 100;

@StorageJsApi()
@Controller(`${STORAGE_JS}/object`)
export class ObjectsController {
  constructor(
    private readonly files: NamedFilesService,
    private readonly lists: EntryListRepository,
  ) {}

  @Post('list/:bucket_name')
  @Describe(`List a folder (storage-js)
    First the folders directly below it, then its files.`)
  @Success(200, 'Folders, whose id is null, and files', [ObjectEntryResponse])
  @Errors(invalidParameters('limit must not be greater than 1000'), bucketNotFound())
  async listObjects(
    @CurrentCaller() caller: Caller,
    @Param('bucket_name', BucketAddressPipe) bucket: string,
    @Body() body: ListObjectsDto,
  ): Promise<ObjectEntryResponse[]> {
    const { prefix: folder = '', limit = DEFAULT_ENTRIES, offset = 0, search = '' } = body;
    const prefix = folder === '' || folder.endsWith('/') ? folder : `${folder}/`;
    const query = { bucket, prefix, search, limit, offset, groupsFolders: true, after: null };
    const entries = await this.lists.list(caller, { ...query, ...sortOf(body.sortBy) });
    return entries.map((entry) => toObjectEntry(entry, prefix));
  }

  @Post('list-v2/:bucket_name')
  @Describe(`List files by prefix, page by page (storage-js)
    With a delimiter the pages hold the folders first.`)
  @Success(200, 'A page', ObjectPageResponse)
  @Errors(invalidParameters('limit must not be greater than 1000'), bucketNotFound())
  async listObjectsV2(
    @CurrentCaller() caller: Caller,
    @Param('bucket_name', BucketAddressPipe) bucket: string,
    @Body() body: ListObjectsV2Dto,
  ): Promise<ObjectPageResponse> {
    const { prefix = '', with_delimiter: groupsFolders = false, limit = MAX_ENTRIES } = body;
    const sort = sortOf(body.sortBy);
    const after = parseCursor(body.cursor, sort.sortBy);
    const query = { bucket, prefix, search: '', limit: limit + 1, offset: 0, groupsFolders, after };
    return toObjectPage(await this.lists.list(caller, { ...query, ...sort }), limit);
  }

  @Post('move')
  @Describe(`Move or rename a file (storage-js)
    Within its bucket or into another. The content does not change.`)
  @Success(200, 'A message', StorageMessageResponse)
  @Errors(invalidParameters('sourceKey must be a string'), fileNotFound(), fileAlreadyExists())
  async moveObject(
    @CurrentCaller() caller: Caller,
    @Body() body: MoveObjectDto,
  ): Promise<StorageMessageResponse> {
    await this.files.moveFile(caller, sourceOf(body), targetOf(body));
    return { message: 'Successfully moved' };
  }

  @Post('copy')
  @Describe(`Copy a file (storage-js)
    Within its bucket or into another. The copy belongs to the caller.`)
  @Success(200, 'The copy', ObjectKeyResponse)
  @Errors(invalidParameters('sourceKey must be a string'), fileNotFound(), fileAlreadyExists())
  async copyObject(@CurrentCaller() caller: Caller, @Body() body: MoveObjectDto): Promise<ObjectKeyResponse> {
    const { record } = await this.files.copyFile(caller, sourceOf(body), targetOf(body));
    return toObjectKey(record, targetOf(body).bucket);
  }

  @Delete(':bucket_name')
  @Describe(`Delete files (storage-js)
    Files that do not exist, or that the caller may not delete, are left out of the answer.`)
  @Success(200, 'The deleted files', [RemovedObjectResponse])
  @Errors(invalidParameters('prefixes must be an array'))
  async deleteObjects(
    @CurrentCaller() caller: Caller,
    @Param('bucket_name', BucketAddressPipe) bucket: string,
    @Body() { prefixes }: RemoveObjectsDto,
  ): Promise<RemovedObjectResponse[]> {
    const removed = await this.files.removeFiles(caller, bucket, prefixes);
    return removed.map((file) => toRemovedObject(file, bucket));
  }

  @Delete(OBJECT)
  @ObjectPath()
  @Describe(`Delete a file (storage-js)
    Its signed URLs stop working.`)
  @Success(200, 'A message', StorageMessageResponse)
  @Errors(fileNotFound())
  async deleteObject(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
  ): Promise<StorageMessageResponse> {
    const { bucket, filename } = objectOf(request);
    const removed = await this.files.removeFiles(caller, bucket, [filename]);
    if (removed.length === 0) throw fileNotFound();
    return { message: 'Successfully deleted' };
  }

  @Get(`info/${OBJECT}`)
  @ObjectPath()
  @Describe(`Get a file's facts (storage-js)
    Size, type, entity tag, and the metadata that the upload set.`)
  @Success(200, 'The facts', ObjectInfoResponse)
  @Errors(fileNotFound())
  async getObjectInfo(@CurrentCaller() caller: Caller, @Req() request: Request): Promise<ObjectInfoResponse> {
    const address = objectOf(request);
    return toObjectInfo(await this.files.get(caller, address), address.bucket);
  }
}

/** Plinth does not record accesses, so the time of the last change takes their place. */
function sortOf({ column = 'name', order = 'asc' }: SortDto = {}) {
  return { sortBy: column === 'last_accessed_at' ? 'updated_at' : column, sortDir: order } as const;
}

const sourceOf = ({ bucketId, sourceKey }: MoveObjectDto): FileAddress => ({
  bucket: bucketId,
  filename: sourceKey,
});

const targetOf = ({ bucketId, destinationBucket, destinationKey }: MoveObjectDto): FileAddress => ({
  bucket: destinationBucket ?? bucketId,
  filename: destinationKey,
});
