/** Platform administration: lists the undeliverable mails of all projects, and sends them again. */
import { Controller, Get, Param, Post } from '@nestjs/common';
import { FailedMailService } from '../mail/failed-mail.service';
import { Actor, AuditLogRepository } from '../../install/audit/audit-log.repository';
import { ProjectRegistry } from '../../projects/project-registry.service';
import {
  FailedMailDetailResponse,
  ListFailedMailsQuery,
  QueuedMail,
  toFailedMail,
} from './dto/admin-mails.dto';
import { StaffApi, CurrentActor } from '../../staff/http/staff-api.decorator';
import { StrictQuery } from '../../http/input/strict-input.decorator';
import { invalidParameters } from '../../common/errors/app-error';
import { mailNotFound } from '../auth.errors';
import { Answer, Describe, Errors } from '../../http/docs/operation.decorators';

const DEFAULT_LIMIT = 100;

@StaffApi()
@Controller('admin/v1')
export class FailedMailsController {
  constructor(
    private readonly mails: FailedMailService,
    private readonly projects: ProjectRegistry,
    private readonly audit: AuditLogRepository,
  ) {}

  @Get('failed-mails')
  @Describe(`List undeliverable mails of all projects
    Lists mails whose delivery failed permanently or too often. At most 1000, the newest first.`)
  @Answer(200, 'The newest first', [FailedMailDetailResponse])
  @Errors(invalidParameters('limit must not be greater than 1000'))
  async listFailedMails(
    @StrictQuery() { limit = DEFAULT_LIMIT }: ListFailedMailsQuery,
  ): Promise<FailedMailDetailResponse[]> {
    const found = await this.mails.listAll(limit);
    return found.map(({ project, mail }) => ({
      project_id: project.id,
      project_slug: project.slug,
      ...toFailedMail(mail),
    }));
  }

  @Post('projects/:id/failed-mails/:mail_id/retry')
  @Describe(`Send an undeliverable mail again
    The mail is queued with its original token, so it can be sent only while that token is valid.`)
  @Answer(200, 'The mail is queued', QueuedMail)
  @Errors(mailNotFound())
  async retryFailedMail(
    @Param('id') projectId: string,
    @Param('mail_id') mailId: string,
    @CurrentActor() actor: Actor,
  ): Promise<QueuedMail> {
    await this.mails.retry(await this.projects.get(projectId), mailId);
    await this.audit.write({ action: 'project.mail.retry', actor, projectId, details: { mail_id: mailId } });
    return { id: mailId, queued: true };
  }
}
