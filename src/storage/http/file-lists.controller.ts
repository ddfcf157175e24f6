/** Lists of a bucket's files and folders (SPEC.md 4.1). */
import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { callerOf } from '../../access/current-caller.decorator';
import { FilesService } from '../files/files.service';
import { JsonRows } from '../rows/json-rows';
import { ListFilesQuery, ListFoldersQuery } from './dto/files.dto';
import { FileDto } from './dto/records';
import { BucketAddressPipe } from './dto/text';
import { Failures, StorageAccess, Success } from './storage-api.decorator';

@StorageAccess()
@Controller('p/:project_slug/storage/buckets/:bucket_name')
export class FileListsController {
  constructor(private readonly files: FilesService) {}

  @Get('files')
  @ApiOperation({ summary: 'List the files of a bucket', operationId: 'listFiles' })
  @Success(200, 'A page', [FileDto], {
    'X-Total-Count': { description: 'Files on all pages; absent with a cursor', schema: { type: 'integer' } },
    'X-Next-Cursor': {
      description: 'Asks for the next page; absent on the last',
      schema: { type: 'string' },
    },
  })
  @Failures(404)
  async list(
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
  @ApiOperation({ summary: 'List the folders right below a prefix', operationId: 'listFolders' })
  @Success(200, 'Names with their trailing slash', [String])
  @Failures(404)
  folders(
    @Param('bucket_name', BucketAddressPipe) bucket: string,
    @Query() query: ListFoldersQuery,
    @Req() request: Request,
  ): Promise<string[]> {
    return this.files.folders(callerOf(request), bucket, query);
  }
}
