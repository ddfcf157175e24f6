/** Lists of a bucket's files and folders. */
import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { callerOf } from '../../access/current-caller.decorator';
import { FilesService } from '../files/files.service';
import { JsonRows } from '../rows/json-rows';
import { ListFilesQuery, ListFoldersQuery } from './dto/files.dto';
import { FileResponse } from './dto/storage-responses';
import { BucketAddressPipe } from './dto/text';
import { StorageAccess, Success } from './storage-api.decorator';
import { COUNT, TEXT } from '../../http/docs/documented-headers';
import { invalidParameters, bucketNotFound } from '../storage.errors';
import { Describe, Errors, PathErrors } from '../../http/docs/operation.decorators';

@StorageAccess()
@PathErrors({ ':bucket_name': bucketNotFound() })
@Controller('p/:project_slug/storage/buckets/:bucket_name')
export class FileListsController {
  constructor(private readonly files: FilesService) {}

  @Get('files')
  @Describe(`List the files of a bucket
    Needs apikey and bearer; the project's policies apply. A page has at most 1000 files. With \`cursor\`, it starts after the last file of the previous page, in the same order, and the total is not counted.`)
  @Success(200, 'A page of files', [FileResponse], {
    'X-Total-Count': { description: 'Total number of files; absent with a cursor', schema: COUNT },
    'X-Next-Cursor': { description: 'Value of `cursor` for the next page; absent on the last', schema: TEXT },
  })
  @Errors(invalidParameters('limit must not be greater than 1000'), bucketNotFound())
  async listFiles(
    @Param('bucket_name', BucketAddressPipe) bucket: string,
    @Query() query: ListFilesQuery,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<JsonRows> {
    const { files, total, nextCursor } = await this.files.list(callerOf(request), bucket, query);
    if (total !== null) response.setHeader('X-Total-Count', total);
    if (nextCursor !== null) response.setHeader('X-Next-Cursor', nextCursor);
    return files;
  }

  @Get('folders')
  @Describe(`List the folders right below a prefix
    Needs apikey and bearer; the project's policies apply. A folder is the part of a filename up to a slash; folders without a file do not exist.`)
  @Success(200, 'Names with their trailing slash', [String])
  @Errors(invalidParameters('after must be a folder below the prefix'), bucketNotFound())
  listFolders(
    @Param('bucket_name', BucketAddressPipe) bucket: string,
    @Query() query: ListFoldersQuery,
    @Req() request: Request,
  ): Promise<string[]> {
    return this.files.folders(callerOf(request), bucket, query);
  }
}
