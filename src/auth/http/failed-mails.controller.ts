/** Platform administration: mails of all projects that were given up, and sending them once more. */
import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiParam } from '@nestjs/swagger';
import { FailedMailService } from '../mail/failed-mail.service';
import { Actor, AuditLogRepository } from '../../install/audit/audit-log.repository';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { FailedMailRecord, QueuedMail } from './dto/failed-mail-responses';
import { CurrentActor } from '../../staff/http/current-staff.decorator';
import { PROJECT_ERRORS, ProjectIdParam, STAFF_ERRORS, StaffApi } from '../../staff/http/staff-api.decorator';
import { ListFailedMailsQuery } from './dto/failed-mails.dto';
import { StrictQuery } from '../../http/input/strict-input.decorator';
import { Answer } from '../../http/docs/answer.decorator';
import { UUID_EXAMPLE } from '../../http/docs/documented-types';
import { invalidParameters } from '../../common/errors/http-errors';
import { PlatformErrors } from '../../http/errors/platform-error-docs';
import { mailNotFound } from '../auth.errors';

const DEFAULT_LIMIT = 100;

const MailParam = (): MethodDecorator =>
  ApiParam({
    name: 'mail_id',
    type: String,
    description: 'The id of a mail, from the list of failed mails',
    example: UUID_EXAMPLE,
  });

@StaffApi()
@Controller('admin/v1')
export class FailedMailsController {
  constructor(
    private readonly mails: FailedMailService,
    private readonly projects: ProjectRegistry,
    private readonly audit: AuditLogRepository,
  ) {}

  @Get('failed-mails')
  @ApiOperation({
    operationId: 'listFailedMails',
    summary: 'List undeliverable mails of all projects',
    description:
      'Lists mails whose delivery failed permanently or too often. At most 1000, the newest first.',
  })
  @ApiQuery({ type: ListFailedMailsQuery })
  @Answer(200, 'The newest first', [FailedMailRecord])
  @PlatformErrors(invalidParameters('limit must not be greater than 1000'), STAFF_ERRORS)
  async list(@StrictQuery() { limit = DEFAULT_LIMIT }: ListFailedMailsQuery): Promise<FailedMailRecord[]> {
    const found = await this.mails.listAll(limit);
    return found.map(({ project, mail }) => ({
      project_id: project.id,
      project_slug: project.slug,
      id: mail.id,
      kind: mail.kind,
      recipient: mail.recipient,
      created_at: mail.createdAt,
      attempts: mail.attempts,
      last_error: mail.lastError,
    }));
  }

  @Post('projects/:id/failed-mails/:mail_id/retry')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'retryFailedMail',
    summary: 'Send an undeliverable mail again',
    description:
      'The mail is queued with its original token, so it can be sent only while that token is valid.',
  })
  @ProjectIdParam()
  @MailParam()
  @Answer(200, 'The mail is queued', QueuedMail)
  @PlatformErrors(mailNotFound(), PROJECT_ERRORS)
  async retry(
    @Param('id') projectId: string,
    @Param('mail_id') mailId: string,
    @CurrentActor() actor: Actor,
  ): Promise<QueuedMail> {
    await this.mails.retry(await this.projects.get(projectId), mailId);
    await this.audit.write({ action: 'project.mail.retry', actor, projectId, details: { mail_id: mailId } });
    return { id: mailId, queued: true };
  }
}
