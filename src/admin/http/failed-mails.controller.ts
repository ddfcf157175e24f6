/** Platform administration: mails of all projects that were given up, and sending them once more. */
import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiResponse } from '@nestjs/swagger';
import { FailedMailService } from '../../auth/mail/failed-mail.service';
import { PlatformError } from '../../http/errors/platform-error.dto';
import { Actor, AuditLogRepository } from '../../projects/audit-log.repository';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { FailedMailRecord, QueuedMail } from '../admin-records';
import { AdminApi } from './admin-api.decorator';
import { CurrentActor } from './current-actor.decorator';
import { ListFailedMailsQuery } from './dto/failed-mails.dto';
import { StrictQuery } from '../../http/input/strict-input.decorator';

const DEFAULT_LIMIT = 100;

@AdminApi()
@Controller('admin/v1')
export class FailedMailsController {
  constructor(
    private readonly mails: FailedMailService,
    private readonly projects: ProjectRegistry,
    private readonly audit: AuditLogRepository,
  ) {}

  @Get('failed-mails')
  @ApiOperation({ summary: 'List undeliverable mails of all projects', operationId: 'listFailedMails' })
  @ApiQuery({ type: ListFailedMailsQuery })
  @ApiResponse({ status: 200, type: [FailedMailRecord] })
  @ApiResponse({ status: 400, description: 'Invalid parameters', type: PlatformError })
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
  @ApiOperation({ summary: 'Send an undeliverable mail again', operationId: 'retryFailedMail' })
  @ApiResponse({ status: 200, type: QueuedMail })
  @ApiResponse({
    status: 404,
    description: 'The mail does not exist or can no longer be sent',
    type: PlatformError,
  })
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
