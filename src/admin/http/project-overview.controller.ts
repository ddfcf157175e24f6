/** Platform administration: a project at a glance. */
import { Controller, Get, Param } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { Answer } from '../../http/docs/answer.decorator';
import { PlatformErrors } from '../../http/errors/platform-error-docs';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { ProjectOverview } from '../overview/project-overview';
import { ProjectOverviewService } from '../overview/project-overview.service';
import { PROJECT_ERRORS, ProjectIdParam, StaffApi } from '../../staff/http/staff-api.decorator';

@StaffApi()
@Controller('admin/v1/projects/:id/overview')
export class ProjectOverviewController {
  constructor(
    private readonly registry: ProjectRegistry,
    private readonly overview: ProjectOverviewService,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'getProjectOverview',
    summary: 'Get sizes, counts, requests of the last day and the newest backup of a project',
    description: 'Users are counted, which takes longer the more there are.',
  })
  @ProjectIdParam()
  @Answer(200, 'The overview', ProjectOverview)
  @PlatformErrors(PROJECT_ERRORS)
  async get(@Param('id') id: string): Promise<ProjectOverview> {
    return this.overview.of(await this.registry.get(id));
  }
}
