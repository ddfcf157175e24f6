/** Platform administration: the use of limits, and the job queues. */
import { Controller, Get, Param, Post } from '@nestjs/common';
import { Actor, AuditLogRepository } from '../../install/audit/audit-log.repository';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { ProjectUsage, QueueState } from '../usage/project-usage';
import { ProjectUsageService, queueNotFound } from '../usage/project-usage.service';
import { StaffApi, CurrentActor } from '../../staff/http/staff-api.decorator';
import { Answer, Describe, Errors } from '../../http/docs/operation.decorators';

@StaffApi()
@Controller('admin/v1')
export class UsageController {
  constructor(
    private readonly registry: ProjectRegistry,
    private readonly usage: ProjectUsageService,
    private readonly audit: AuditLogRepository,
  ) {}

  @Get('projects/:id/usage')
  @Describe(`Get the rate limits, quotas and mails of a project, with their current usage
    Without REDIS_URL, each process counts separately and returns its own counts.`)
  @Answer(200, 'The current usage', ProjectUsage)
  async getProjectUsage(@Param('id') id: string): Promise<ProjectUsage> {
    return this.usage.of(await this.registry.get(id));
  }

  @Get('queues')
  @Describe(`Get the job queues of the install: mails, and bytes of files to remove
    All projects share the queues. Mails that failed permanently are in the list of failed mails.`)
  @Answer(200, 'The queues', [QueueState])
  listQueues(): Promise<QueueState[]> {
    return this.usage.queues();
  }

  @Post('queues/:name/retry')
  @Describe(`Run the jobs of a queue now that wait for their next attempt
    For use after a mail server or a storage provider is back. Otherwise each job waits for its own delay, which doubles after each attempt. At most 10,000 jobs in one call.`)
  @Answer(200, 'The queue afterwards', QueueState)
  @Errors(queueNotFound())
  async retryQueue(@Param('name') name: string, @CurrentActor() actor: Actor): Promise<QueueState> {
    const state = await this.usage.retry(name);
    await this.audit.write({ action: 'queue.retry', actor, projectId: null, details: { queue: name } });
    return state;
  }
}
