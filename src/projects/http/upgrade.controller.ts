/** Platform administration: migrates projects whose database has the schema of an older version. */
import { Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { ProjectUpkeep } from '../project-upkeep.service';
import { UpgradeRecord } from './dto/upgrade-response';
import { STAFF_ERRORS, StaffApi } from '../../staff/http/staff-api.decorator';
import { Answer } from '../../http/docs/answer.decorator';
import { PlatformErrors } from '../../http/errors/platform-error-docs';

@StaffApi()
@Controller('admin/v1/upgrade')
export class UpgradeController {
  constructor(private readonly upkeep: ProjectUpkeep) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    operationId: 'upgradeProjects',
    summary: 'Retry the migrations of projects that failed when the server started',
    description: 'A project that fails keeps its schema, and is tried again later.',
  })
  @Answer(200, 'The outcome, failures included', UpgradeRecord)
  @PlatformErrors(STAFF_ERRORS)
  upgrade(): Promise<UpgradeRecord> {
    return this.upkeep.migrateOutdated();
  }
}
