/** Records of files. Lists, uploads, content and signed URLs have their own controllers. */
import { Controller, Delete, Get, Param, Patch, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Caller } from '../../access/caller';
import { CurrentCaller } from '../../access/current-caller.decorator';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { FileRecord } from '../files/file';
import { FilesService } from '../files/files.service';
import { warnOfQuotas } from '../quotas/quota-warnings';
import { BulkDeleteDto, CopyFileDto, UpdateFileDto } from './dto/files.dto';
import { BulkDeleteResultResponse, FileResponse } from './dto/storage-responses';
import { QUOTA_HEADER, StorageApi, Success } from './storage-api.decorator';
import { ErrorList } from '../../http/docs/error-docs';
import {
  invalidParameters,
  forbidden,
  bucketNotFound,
  fileNotFound,
  fileAlreadyExists,
  fileTooLarge,
  quotaExceeded,
  unsupportedMediaType,
} from '../storage.errors';
import { Describe, Errors, PathErrors } from '../../http/docs/operation.decorators';

/** Errors for files that the rules of a bucket refuse. */
const LIMIT_ERRORS: ErrorList = [
  fileTooLarge(52_428_800),
  quotaExceeded('bucket', 'bytes', 1_073_741_824),
  unsupportedMediaType('text/html'),
];

const PLACEMENT_ERRORS: ErrorList = [
  invalidParameters('filename must be a string'),
  forbidden(),
  bucketNotFound(),
  fileAlreadyExists(),
  LIMIT_ERRORS,
];

@StorageApi()
@PathErrors({ ':file_id': fileNotFound() })
@Controller('p/:project_slug/storage/files')
export class FilesController {
  constructor(private readonly files: FilesService) {}

  @Post('bulk-delete')
  @Describe(`Delete several files in one transaction
    Needs apikey and bearer; the project's policies apply. If the caller may see one of the files but not delete it, none is deleted (403). Unknown ids are listed in the response.`)
  @Success(200, 'The ids that were deleted, and those that were not found', BulkDeleteResultResponse)
  @Errors(invalidParameters('file_ids must be an array'), forbidden())
  bulkDeleteFiles(
    @CurrentCaller() caller: Caller,
    @StrictBody() { file_ids: ids }: BulkDeleteDto,
  ): Promise<BulkDeleteResultResponse> {
    return this.files.removeAll(caller, ids);
  }

  @Get(':file_id')
  @Describe(`Get a file's record
    Needs apikey and bearer; the project's policies apply. A file that the caller may not see is a 404.`)
  @Success(200, 'The record', FileResponse)
  getFile(@CurrentCaller() caller: Caller, @Param('file_id') id: string): Promise<FileRecord> {
    return this.files.get(caller, id);
  }

  @Patch(':file_id')
  @Describe(`Rename or move a file, change its type or metadata
    Needs apikey and bearer; the project's policies apply. Omitted members keep their values. The content does not change. The limits of the target bucket apply.`)
  @Success(200, 'The updated record', FileResponse, QUOTA_HEADER)
  @Errors(PLACEMENT_ERRORS)
  async updateFile(
    @CurrentCaller() caller: Caller,
    @Param('file_id') id: string,
    @StrictBody() body: UpdateFileDto,
    @Res() response: Response,
  ): Promise<FileRecord> {
    const { record, marks } = await this.files.updateFile(caller, id, body);
    warnOfQuotas(caller.project, record, marks, response);
    return record;
  }

  @Post(':file_id/copy')
  @Describe(`Copy a file, within its bucket or into another
    Needs apikey and bearer; the project's policies apply. The copy belongs to the caller and has the type and metadata of the original. The limits of its bucket apply as for an upload.`)
  @Success(201, 'The copy', FileResponse, QUOTA_HEADER)
  @Errors(PLACEMENT_ERRORS)
  async copyFile(
    @CurrentCaller() caller: Caller,
    @Param('file_id') id: string,
    @StrictBody() body: CopyFileDto,
    @Res() response: Response,
  ): Promise<FileRecord> {
    const { record, marks } = await this.files.copy(caller, id, body);
    warnOfQuotas(caller.project, record, marks, response);
    return record;
  }

  @Delete(':file_id')
  @Describe(`Delete a file
    Needs apikey and bearer; the project's policies apply. Its signed URLs stop working.`)
  @Success(200, 'The record of the deleted file', FileResponse)
  @Errors(forbidden())
  deleteFile(@CurrentCaller() caller: Caller, @Param('file_id') id: string): Promise<FileRecord> {
    return this.files.remove(caller, id);
  }
}
