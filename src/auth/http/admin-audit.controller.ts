/** The audit trail, failed mails and mail previews, for administrators with the service-role key. */
import {
  Body,
  Controller,
  Get,
  HttpCode,
  Param,
  Post,
  Query,
  Res,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { ApiKeyGuard } from '../../access/api-key.guard';
import { BearerGuard } from '../../access/bearer.guard';
import { CurrentProject } from '../../access/current-caller.decorator';
import { ServiceRoleGuard } from '../../access/service-role.guard';
import { JsonBodyInterceptor } from '../../http/bodies/json-body.interceptor';
import type { Project } from '../../projects/project';
import { AuditRepository } from '../audit/audit.repository';
import { FailedMailService } from '../mail/failed-mail.service';
import { MailComposer } from '../mail/mail-composer.service';
import { ApiAuthErrors } from './auth-responses.decorator';
import { AuditEntriesDto, FailedMailsDto, MailContentDto } from './dto/admin-answers.dto';
import { ListAuditQuery, MailPreviewDto } from './dto/admin-audit.dto';
import { MessageDto } from './dto/auth-answers.dto';
import { pageOf } from './dto/page.dto';

@ApiTags('auth')
@ApiSecurity({ apikey: [], bearer: [] })
@ApiParam({ name: 'project_id', type: String })
@ApiAuthErrors(400, 401, 403, 500)
@Controller('v1/auth/:project_id/admin')
@UseGuards(ApiKeyGuard, BearerGuard, ServiceRoleGuard)
export class AdminAuditController {
  constructor(
    private readonly audit: AuditRepository,
    private readonly failedMails: FailedMailService,
    private readonly composer: MailComposer,
  ) {}

  @Get('audit')
  @ApiOperation({ operationId: 'adminListAudit', summary: 'Read the audit trail, the newest entry first' })
  @ApiResponse({ status: 200, description: 'A page of entries', type: AuditEntriesDto })
  async listAudit(
    @CurrentProject() project: Project,
    @Query() query: ListAuditQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const { total, entries } = await this.audit.list(project, {
      action: query.action ?? null,
      userId: query.user_id ?? null,
      ...pageOf(query),
    });
    response.set('X-Total-Count', String(total));
    return { entries };
  }

  @Get('failed-mails')
  @ApiOperation({ operationId: 'adminListFailedMails', summary: 'List mails that were given up' })
  @ApiResponse({ status: 200, description: 'The newest first', type: FailedMailsDto })
  async listFailedMails(@CurrentProject() project: Project): Promise<FailedMailsDto> {
    const mails = await this.failedMails.list(project);
    return {
      mails: mails.map((mail) => ({
        id: mail.id,
        kind: mail.kind,
        recipient: mail.recipient,
        created_at: mail.createdAt.toISOString(),
        attempts: mail.attempts,
        last_error: mail.lastError,
      })),
    };
  }

  @Post('failed-mails/:mail_id/retry')
  @HttpCode(200)
  @ApiOperation({ operationId: 'adminRetryMail', summary: 'Send a mail again that was given up' })
  @ApiResponse({ status: 200, description: 'The mail is queued', type: MessageDto })
  @ApiAuthErrors(404)
  async retryMail(@CurrentProject() project: Project, @Param('mail_id') id: string): Promise<MessageDto> {
    await this.failedMails.retry(project, id);
    return { message: 'The mail is queued again' };
  }

  @Post('mail-preview')
  @HttpCode(200)
  @UseInterceptors(JsonBodyInterceptor)
  @ApiOperation({
    operationId: 'adminPreviewMail',
    summary: 'Render a mail with sample values; nothing is sent',
  })
  @ApiResponse({ status: 200, description: 'The mail with sample values', type: MailContentDto })
  previewMail(
    @CurrentProject() project: Project,
    @Body() { kind, language, subject, text, html }: MailPreviewDto,
  ): Promise<MailContentDto> {
    const draft = Object.entries({ subject, text, html }).filter(([, part]) => typeof part === 'string');
    return this.composer.preview(
      project,
      { kind, language: language ?? undefined },
      Object.fromEntries(draft),
    );
  }
}
