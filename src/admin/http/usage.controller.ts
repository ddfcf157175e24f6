/** Platform administration: the use of limits, and the job queues. */
import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOperation, ApiParam } from '@nestjs/swagger';
import { Answer } from '../../http/docs/answer.decorator';
import { PlatformErrors } from '../../http/errors/platform-error-docs';
import { Actor, AuditLogRepository } from '../../projects/audit-log.repository';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { ProjectUsage, QUEUES, QueueState } from '../usage/project-usage';
import { ProjectUsageService, queueNotFound } from '../usage/project-usage.service';
import { ADMIN_ERRORS, AdminApi, PROJECT_ERRORS, ProjectParam } from './admin-api.decorator';
import { CurrentActor } from './current-actor.decorator';

@AdminApi()
@Controller('admin/v1')
export class UsageController {
  constructor(
    private readonly registry: ProjectRegistry,
    private readonly usage: ProjectUsageService,
    private readonly audit: AuditLogRepository,
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

  @Post('queues/:name/retry')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'retryQueue',
    summary: 'Run the jobs of a queue now that wait for their next attempt',
    description:
      'For use after a mail server or a storage provider is back. Otherwise each job waits for its own delay, which doubles after each attempt. At most 10,000 jobs in one call.',
  })
  @ApiParam({
    name: 'name',
    type: String,
    description: '`auth-mail`',
    example: QUEUES[0],
  })
  @Answer(200, 'The queue afterwards', QueueState)
  @PlatformErrors(queueNotFound(), ADMIN_ERRORS)
  async retry(@Param('name') name: string, @CurrentActor() actor: Actor): Promise<QueueState> {
    const state = await this.usage.retry(name);
    await this.audit.write({ action: 'queue.retry', actor, projectId: null, details: { queue: name } });
    return state;
  }
}
