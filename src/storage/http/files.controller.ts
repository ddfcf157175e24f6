/** Records of files (SPEC.md 4.1, DECISIONS.md 6). Lists, uploads, content and signed URLs have their own controllers. */
import { Controller, Delete, Get, HttpCode, Param, Patch, Post, Res } from '@nestjs/common';
import { ApiBody, ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import { Caller } from '../../access/caller';
import { CurrentCaller } from '../../access/current-caller.decorator';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { FileRecord } from '../files/file';
import { FilesService } from '../files/files.service';
import { QuotaWarnings } from '../quotas/quota-warnings';
import { BulkDeleteDto, CopyFileDto, UpdateFileDto } from './dto/files.dto';
import { BulkDeleteResultDto, FileDto } from './dto/records';
import { Failures, QUOTA_HEADER, StorageApi, Success } from './storage-api.decorator';

@StorageApi()
@Controller('p/:project_slug/storage/files')
export class FilesController {
  constructor(
    private readonly files: FilesService,
    private readonly warnings: QuotaWarnings,
  ) {}

  @Post('bulk-delete')
  @HttpCode(200)
  @ApiOperation({ summary: 'Delete several files in one transaction', operationId: 'bulkDeleteFiles' })
  @ApiBody({ type: BulkDeleteDto })
  @Success(200, 'The ids that were deleted, and those that were not found', BulkDeleteResultDto)
  @Failures(403, 404, 413, 415)
  removeAll(
    @CurrentCaller() caller: Caller,
    @StrictBody() { file_ids: ids }: BulkDeleteDto,
  ): Promise<BulkDeleteResultDto> {
    return this.files.removeAll(caller, ids);
  }

  @Get(':file_id')
  @ApiOperation({ summary: "Get a file's record", operationId: 'getFile' })
  @Success(200, 'The record', FileDto)
  @Failures(404)
  get(@CurrentCaller() caller: Caller, @Param('file_id') id: string): Promise<FileRecord> {
    return this.files.get(caller, id);
  }

  @Patch(':file_id')
  @ApiOperation({ summary: 'Rename or move a file, change its type or metadata', operationId: 'updateFile' })
  @ApiBody({ type: UpdateFileDto })
  @Success(200, 'The record', FileDto, QUOTA_HEADER)
  @Failures(403, 404, 409, 413, 415)
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
  @ApiOperation({ summary: 'Copy a file, within its bucket or into another', operationId: 'copyFile' })
  @ApiBody({ type: CopyFileDto })
  @Success(201, 'The copy', FileDto, QUOTA_HEADER)
  @Failures(403, 404, 409, 413, 415)
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
  @ApiOperation({ summary: 'Delete a file', operationId: 'deleteFile' })
  @Success(200, 'The record as it was', FileDto)
  @Failures(403, 404)
  remove(@CurrentCaller() caller: Caller, @Param('file_id') id: string): Promise<FileRecord> {
    return this.files.remove(caller, id);
  }
}
