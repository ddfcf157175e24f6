/** Platform administration: migrates projects whose database has the schema of an older version. */
import { Controller, Post } from '@nestjs/common';
import { ProjectUpkeep } from '../project-upkeep.service';
import { StaffApi } from '../../staff/http/staff-api.decorator';
import { Answer, Describe } from '../../http/docs/operation.decorators';
import * as f from '../../http/model/fields';

class FailedUpgrade extends f.model({
  slug: f.text({ example: 'acme' }),
  reason: f.text(),
}) {}

@f.Example({ migrated: ['acme'], failed: [] })
class UpgradeResponse extends f.model({
  migrated: f.texts('Slugs of the migrated projects'),
  failed: f.list(FailedUpgrade),
}) {}

@StaffApi()
@Controller('admin/v1/upgrade')
export class UpgradeController {
  constructor(private readonly upkeep: ProjectUpkeep) {}

  @Post()
  @Describe(`Retry the migrations of projects that failed when the server started
    A project that fails keeps its schema, and is tried again later.`)
  @Answer(200, 'The outcome, failures included', UpgradeResponse)
  upgradeProjects(): Promise<UpgradeResponse> {
    return this.upkeep.migrateOutdated();
  }
}
