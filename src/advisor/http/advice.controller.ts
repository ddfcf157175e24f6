/** Platform administration: advice about a project's database. */
import { Controller, Delete, Get, Param, Post } from '@nestjs/common';
import { Actor, AuditLogRepository } from '../../install/audit/audit-log.repository';
import { ProjectsService } from '../../projects/projects.service';
import { ADVICE_ID } from '../advice-check';
import { AdviceDismissalRepository } from '../advice-dismissal.repository';
import { AdviceDismissed, ProjectAdvice } from './dto/advice-responses';
import { Advisor, CHECK_NAMES } from '../advisor.service';
import { StaffApi, CurrentActor } from '../../staff/http/staff-api.decorator';
import { Answer, Describe, PathErrors } from '../../http/docs/operation.decorators';
import { AppError } from '../../common/errors/app-error';

const adviceNotFound = (): AppError =>
  new AppError(404, 'advice_not_found', 'No check gives advice with this id');

@StaffApi()
@PathErrors({ ':advice_id': adviceNotFound() })
@Controller('admin/v1/projects/:id/advice')
export class AdviceController {
  constructor(
    private readonly projects: ProjectsService,
    private readonly advisor: Advisor,
    private readonly dismissals: AdviceDismissalRepository,
    private readonly audit: AuditLogRepository,
  ) {}

  @Get()
  @Describe(`Check a project for open, slow or failing parts, with the SQL that fixes them
    Reads the catalogs and statistics of the database, but no rows. Each check takes at most 5 s and reports at most 50 findings.`)
  @Answer(200, 'The advice', ProjectAdvice)
  async getProjectAdvice(@Param('id') id: string): Promise<ProjectAdvice> {
    const project = await this.projects.get(id);
    const [{ advice, skipped, truncated }, dismissals] = await Promise.all([
      this.advisor.examine(project),
      this.dismissals.list(id),
    ]);
    return {
      advice: advice.map(({ names, ...one }) => {
        const dismissal = dismissals.get(one.id);
        const dismissed = dismissal ? { at: dismissal.at.toISOString(), actor: dismissal.actor } : null;
        return { ...one, object: names, dismissed };
      }),
      skipped,
      truncated,
    };
  }

  @Post(':advice_id/dismiss')
  @Describe(`Dismiss a finding of the advisor, for everyone
    It stays in the list, marked as dismissed.`)
  @Answer(200, 'The finding is dismissed', AdviceDismissed)
  async dismissAdvice(
    @Param('id') projectId: string,
    @Param('advice_id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<AdviceDismissed> {
    await this.assertKnown(projectId, id);
    await this.dismissals.add(projectId, id, actor.name);
    await this.audit.write({ action: 'project.advice.dismiss', actor, projectId, details: { id } });
    return { id, dismissed: true };
  }

  @Delete(':advice_id/dismiss')
  @Describe(`Restore a dismissed finding of the advisor
    Does nothing if the finding is not dismissed.`)
  @Answer(200, 'The finding is not dismissed', AdviceDismissed)
  async restoreAdvice(
    @Param('id') projectId: string,
    @Param('advice_id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<AdviceDismissed> {
    await this.assertKnown(projectId, id);
    await this.dismissals.remove(projectId, id);
    await this.audit.write({ action: 'project.advice.restore', actor, projectId, details: { id } });
    return { id, dismissed: false };
  }

  /** Advice that no check gives at present can be dismissed too: it may come back. @throws AppError 404 */
  private async assertKnown(projectId: string, id: string): Promise<void> {
    await this.projects.get(projectId);
    const [, check = ''] = ADVICE_ID.exec(id) ?? [];
    if (!CHECK_NAMES.includes(check)) throw adviceNotFound();
  }
}
