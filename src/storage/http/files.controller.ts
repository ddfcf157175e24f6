/** Records of files (SPEC.md 4.1, DECISIONS.md 6). Lists, uploads, content and signed URLs have their own controllers. */
import { Controller, Delete, Get, HttpCode, Param, Patch, Post, Res } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import { Caller } from '../../access/caller';
import { CurrentCaller } from '../../access/current-caller.decorator';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { FileRecord } from '../files/file';
import { FilesService } from '../files/files.service';
import { QuotaWarnings } from '../quotas/quota-warnings';
import { BulkDeleteDto, CopyFileDto, UpdateFileDto } from './dto/files.dto';
import { BulkDeleteResultDto, FileDto } from './dto/records';
import {
  Failures,
  QUOTA_HEADER,
  StorageApi,
  Success,
  ACCESS_ERRORS,
  FileParam,
} from './storage-api.decorator';
import { JsonBody } from '../../http/docs/answer.decorator';
import { ErrorList } from '../../http/docs/error-docs';
import { JSON_BODY_ERRORS } from '../../http/docs/standard-errors';
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

/** What the rules of a bucket refuse. */
const LIMIT_ERRORS: ErrorList = [
  fileTooLarge(52_428_800),
  quotaExceeded('bucket', 'bytes', 1_073_741_824),
  unsupportedMediaType('text/html'),
];

const PLACEMENT_ERRORS: ErrorList = [
  invalidParameters('filename must be a string'),
  forbidden(),
  fileNotFound(),
  bucketNotFound(),
  fileAlreadyExists(),
  LIMIT_ERRORS,
  JSON_BODY_ERRORS,
  ACCESS_ERRORS,
];

@StorageApi()
@Controller('p/:project_slug/storage/files')
export class FilesController {
  constructor(
    private readonly files: FilesService,
    private readonly warnings: QuotaWarnings,
  ) {}

  @Post('bulk-delete')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'bulkDeleteFiles',
    summary: 'Delete several files in one transaction',
    description:
      "Needs apikey and bearer; the project's policies apply. If the caller may see one of the files but not delete it, none is deleted (403). Unknown ids are listed in the response.",
  })
  @JsonBody(BulkDeleteDto)
  @Success(200, 'The ids that were deleted, and those that were not found', BulkDeleteResultDto)
  @Failures(invalidParameters('file_ids must be an array'), forbidden(), JSON_BODY_ERRORS, ACCESS_ERRORS)
  removeAll(
    @CurrentCaller() caller: Caller,
    @StrictBody() { file_ids: ids }: BulkDeleteDto,
  ): Promise<BulkDeleteResultDto> {
    return this.files.removeAll(caller, ids);
  }

  @Get(':file_id')
  @ApiOperation({
    operationId: 'getFile',
    summary: "Get a file's record",
    description:
      "Needs apikey and bearer; the project's policies apply. A file that the caller may not see is a 404.",
  })
  @FileParam()
  @Success(200, 'The record', FileDto)
  @Failures(fileNotFound(), ACCESS_ERRORS)
  get(@CurrentCaller() caller: Caller, @Param('file_id') id: string): Promise<FileRecord> {
    return this.files.get(caller, id);
  }

  @Patch(':file_id')
  @ApiOperation({
    operationId: 'updateFile',
    summary: 'Rename or move a file, change its type or metadata',
    description:
      "Needs apikey and bearer; the project's policies apply. Omitted members keep their values. The content does not change. The limits of the target bucket apply.",
  })
  @FileParam()
  @JsonBody(UpdateFileDto)
  @Success(200, 'The updated record', FileDto, QUOTA_HEADER)
  @Failures(PLACEMENT_ERRORS)
  async update(
    @CurrentCaller() caller: Caller,
    @Param('file_id') id: string,
    @StrictBody() body: UpdateFileDto,
    @Res() response: Response,
  ): Promise<FileRecord> {
    const { record, marks } = await this.files.update(caller, id, body);
    this.warnings.report(caller.project, record, marks, response);
    return record;
  }

  @Post(':file_id/copy')
  @ApiOperation({
    operationId: 'copyFile',
    summary: 'Copy a file, within its bucket or into another',
    description:
      "Needs apikey and bearer; the project's policies apply. The copy belongs to the caller and has the type and metadata of the original. The limits of its bucket apply as for an upload.",
  })
  @FileParam()
  @JsonBody(CopyFileDto)
  @Success(201, 'The copy', FileDto, QUOTA_HEADER)
  @Failures(PLACEMENT_ERRORS)
  async copy(
    @CurrentCaller() caller: Caller,
    @Param('file_id') id: string,
    @StrictBody() body: CopyFileDto,
    @Res() response: Response,
  ): Promise<FileRecord> {
    const { record, marks } = await this.files.copy(caller, id, body);
    this.warnings.report(caller.project, record, marks, response);
    return record;
  }

  @Delete(':file_id')
  @ApiOperation({
    operationId: 'deleteFile',
    summary: 'Delete a file',
    description: "Needs apikey and bearer; the project's policies apply. Its signed URLs stop working.",
  })
  @FileParam()
  @Success(200, 'The record of the deleted file', FileDto)
  @Failures(forbidden(), fileNotFound(), ACCESS_ERRORS)
  remove(@CurrentCaller() caller: Caller, @Param('file_id') id: string): Promise<FileRecord> {
    return this.files.remove(caller, id);
  }
}
