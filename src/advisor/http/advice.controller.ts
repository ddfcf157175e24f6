/** Platform administration: advice about a project's database. */
import { Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOperation, ApiParam } from '@nestjs/swagger';
import { Answer } from '../../http/docs/answer.decorator';
import { PlatformErrors } from '../../http/errors/platform-error-docs';
import { Actor, AuditLogRepository } from '../../install/audit/audit-log.repository';
import { ProjectsService } from '../../projects/projects.service';
import { ADVICE_ID } from '../advice-check';
import { AdviceDismissalRepository } from '../advice-dismissal.repository';
import { AdviceDismissed, ProjectAdvice } from './dto/advice-responses';
import { Advisor, CHECK_NAMES } from '../advisor.service';
import { adviceNotFound } from '../advisor.errors';
import { CurrentActor } from '../../staff/http/current-staff.decorator';
import { PROJECT_ERRORS, ProjectIdParam, StaffApi } from '../../staff/http/staff-api.decorator';

const AdviceParam = (): MethodDecorator =>
  ApiParam({
    name: 'advice_id',
    type: String,
    description: 'The id of the advice',
    example: 'rls_off-4a5b0c3f9d2e1a77',
  });

@StaffApi()
@Controller('admin/v1/projects/:id/advice')
export class AdviceController {
  constructor(
    private readonly projects: ProjectsService,
    private readonly advisor: Advisor,
    private readonly dismissals: AdviceDismissalRepository,
    private readonly audit: AuditLogRepository,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'getProjectAdvice',
    summary: 'Check a project for open, slow or failing parts, with the SQL that fixes them',
    description:
      'Reads the catalogs and statistics of the database, but no rows. Each check takes at most 5 s and reports at most 50 findings.',
  })
  @ProjectIdParam()
  @Answer(200, 'The advice', ProjectAdvice)
  @PlatformErrors(PROJECT_ERRORS)
  async examine(@Param('id') id: string): Promise<ProjectAdvice> {
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
  @HttpCode(200)
  @ApiOperation({
    operationId: 'dismissAdvice',
    summary: 'Dismiss a finding of the advisor, for everyone',
    description: 'It stays in the list, marked as dismissed.',
  })
  @ProjectIdParam()
  @AdviceParam()
  @Answer(200, 'The finding is dismissed', AdviceDismissed)
  @PlatformErrors(adviceNotFound(), PROJECT_ERRORS)
  async dismiss(
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
  @ApiOperation({
    operationId: 'restoreAdvice',
    summary: 'Restore a dismissed finding of the advisor',
    description: 'Does nothing if the finding is not dismissed.',
  })
  @ProjectIdParam()
  @AdviceParam()
  @Answer(200, 'The finding is not dismissed', AdviceDismissed)
  @PlatformErrors(adviceNotFound(), PROJECT_ERRORS)
  async restore(
    @Param('id') projectId: string,
    @Param('advice_id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<AdviceDismissed> {
    await this.assertKnown(projectId, id);
    await this.dismissals.remove(projectId, id);
    await this.audit.write({ action: 'project.advice.restore', actor, projectId, details: { id } });
    return { id, dismissed: false };
  }

  /** Advice that is not found at present can be dismissed too: it may come back. @throws AppError 404 */
  private async assertKnown(projectId: string, id: string): Promise<void> {
    await this.projects.get(projectId);
    const [, check = ''] = ADVICE_ID.exec(id) ?? [];
    if (!CHECK_NAMES.includes(check)) throw adviceNotFound();
  }
}
