/** Platform administration: a project at a glance. */
import { Controller, Get, Param } from '@nestjs/common';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { ProjectOverview } from '../overview/project-overview';
import { ProjectOverviewService } from '../overview/project-overview.service';
import { StaffApi } from '../../staff/http/staff-api.decorator';
import { Answer, Describe } from '../../http/docs/operation.decorators';

@StaffApi()
@Controller('admin/v1/projects/:id/overview')
export class ProjectOverviewController {
  constructor(
    private readonly registry: ProjectRegistry,
    private readonly overview: ProjectOverviewService,
  ) {}

  @Get()
  @Describe(`Get sizes, counts, requests of the last day and the newest backup of a project
    Users are counted, which takes longer the more there are.`)
  @Answer(200, 'The overview', ProjectOverview)
  async getProjectOverview(@Param('id') id: string): Promise<ProjectOverview> {
    return this.overview.of(await this.registry.get(id));
  }
}
