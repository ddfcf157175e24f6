/** Platform administration: compares a project's files with their stored bytes. */
import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOperation, ApiResponse } from '@nestjs/swagger';
import { PlatformError } from '../../http/errors/platform-error.dto';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { StorageSweep } from '../../storage/sweep/storage-sweep.service';
import { StorageCheck, StorageSweepResult } from '../admin-records';
import { AdminApi, PROJECT_NOT_FOUND } from './admin-api.decorator';

const UNAVAILABLE = {
  status: 500,
  description: 'The storage provider cannot be reached',
  type: PlatformError,
};

@AdminApi()
@Controller('admin/v1/projects/:id/storage')
export class ProjectStorageController {
  constructor(
    private readonly registry: ProjectRegistry,
    private readonly storage: StorageSweep,
  ) {}

  @Get('check')
  @ApiOperation({
    summary: "Compare a project's files with their bytes, and change nothing",
    operationId: 'checkProjectStorage',
  })
  @ApiResponse({ status: 200, type: StorageCheck })
  @ApiResponse(PROJECT_NOT_FOUND)
  @ApiResponse(UNAVAILABLE)
  async check(@Param('id') id: string): Promise<StorageCheck> {
    const report = await this.storage.check(await this.registry.get(id));
    const { count, size, objectIds } = report.bytesWithoutRow;
    return {
      objects: report.objects,
      bytes_without_row: { count, size, object_ids: objectIds },
      rows_without_bytes: report.rowsWithoutBytes,
    };
  }

  @Post('sweep')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Remove objects that belong to no file, as the hourly sweep does',
    operationId: 'sweepProjectStorage',
  })
  @ApiResponse({ status: 200, type: StorageSweepResult })
  @ApiResponse(PROJECT_NOT_FOUND)
  @ApiResponse(UNAVAILABLE)
  async sweep(@Param('id') id: string): Promise<StorageSweepResult> {
    const { objects, uploads, rowsWithoutBytes } = await this.storage.sweep(await this.registry.get(id));
    return { removed_objects: objects, removed_uploads: uploads, rows_without_bytes: rowsWithoutBytes };
  }
}
