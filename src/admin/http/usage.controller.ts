/** Platform administration: the use of limits, and the job queues. */
import { Controller, Get, Param } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { Answer } from '../../http/docs/answer.decorator';
import { PlatformErrors } from '../../http/errors/platform-error-docs';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { ProjectUsage, QueueState } from '../usage/project-usage';
import { ProjectUsageService } from '../usage/project-usage.service';
import { ADMIN_ERRORS, AdminApi, PROJECT_ERRORS, ProjectParam } from './admin-api.decorator';

@AdminApi()
@Controller('admin/v1')
export class UsageController {
  constructor(
    private readonly registry: ProjectRegistry,
    private readonly usage: ProjectUsageService,
  ) {}

  @Get('projects/:id/usage')
  @ApiOperation({
    operationId: 'getProjectUsage',
    summary: 'Get the rate limits, quotas and mails of a project, with their current usage',
    description: 'Without REDIS_URL, each process counts separately and returns its own counts.',
  })
  @ProjectParam()
  @Answer(200, 'The current usage', ProjectUsage)
  @PlatformErrors(PROJECT_ERRORS)
  async ofProject(@Param('id') id: string): Promise<ProjectUsage> {
    return this.usage.of(await this.registry.get(id));
  }

  @Get('queues')
  @ApiOperation({
    operationId: 'listQueues',
    summary: 'Get the job queues of the install: mails, and bytes of files to remove',
    description: 'All projects share the queues. Mails that were given up are in the list of failed mails.',
  })
  @Answer(200, 'The queues', [QueueState])
  @PlatformErrors(ADMIN_ERRORS)
  queues(): Promise<QueueState[]> {
    return this.usage.queues();
  }
}
