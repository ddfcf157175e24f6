/** Platform administration: compares a project's files with their stored bytes. */
import { Controller, Get, Param, Post } from '@nestjs/common';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { StorageSweep } from '../sweep/storage-sweep.service';
import { StorageCheck, StorageSweepResult } from './dto/project-storage-responses';
import { StaffApi } from '../../staff/http/staff-api.decorator';
import { AppError } from '../../common/errors/app-error';
import { INSUFFICIENT_PRIVILEGE } from '../../database/sql/sqlstate';
import { storageUnavailable } from '../storage.errors';
import { Answer, Describe, SharedErrors } from '../../http/docs/operation.decorators';

/** Thrown if the project's owner has revoked rights on the tables of storage. */
const TABLE_REFUSED = new AppError(403, INSUFFICIENT_PRIVILEGE, 'permission denied for table files');

@StaffApi()
@SharedErrors(TABLE_REFUSED, storageUnavailable(null))
@Controller('admin/v1/projects/:id/storage')
export class ProjectStorageController {
  constructor(
    private readonly registry: ProjectRegistry,
    private readonly storage: StorageSweep,
  ) {}

  @Get('check')
  @Describe(`Compare a project's files with their bytes, without changes
    Reads the complete list of objects from the storage provider, which takes time.`)
  @Answer(200, 'The findings', StorageCheck)
  async checkProjectStorage(@Param('id') id: string): Promise<StorageCheck> {
    const report = await this.storage.check(await this.registry.get(id));
    const { count, size, objectIds } = report.bytesWithoutRow;
    return {
      objects: report.objects,
      bytes_without_row: { count, size, object_ids: objectIds },
      rows_without_bytes: report.rowsWithoutBytes,
    };
  }

  @Post('sweep')
  @Describe(`Remove objects that belong to no file, as the hourly sweep does
    Objects that are younger than an hour stay, because an upload may be about to add their row.`)
  @Answer(200, 'The removed objects', StorageSweepResult)
  async sweepProjectStorage(@Param('id') id: string): Promise<StorageSweepResult> {
    const { objects, uploads, rowsWithoutBytes } = await this.storage.sweep(await this.registry.get(id));
    return { removed_objects: objects, removed_uploads: uploads, rows_without_bytes: rowsWithoutBytes };
  }
}
