/** Platform administration: migrates projects whose database has the schema of an older version. */
import { Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOperation, ApiResponse } from '@nestjs/swagger';
import { ProjectUpkeep } from '../../projects/project-upkeep.service';
import { UpgradeRecord } from '../admin-records';
import { AdminApi } from './admin-api.decorator';

@AdminApi()
@Controller('admin/v1/upgrade')
export class UpgradeController {
  constructor(private readonly upkeep: ProjectUpkeep) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Migrate the projects that could not be migrated when the server started',
    operationId: 'upgradeProjects',
  })
  @ApiResponse({ status: 200, type: UpgradeRecord, description: 'The outcome, failures included' })
  upgrade(): Promise<UpgradeRecord> {
    return this.upkeep.migrateOutdated();
  }
}
