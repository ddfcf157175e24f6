/** Failed mails, mail previews and test mails, for administrators with the service-role key. */
import { Body, Controller, Get, HttpCode, Param, Post, UseGuards, UseInterceptors } from '@nestjs/common';
import { ApiOperation, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { ApiKeyGuard } from '../../access/api-key.guard';
import { BearerGuard } from '../../access/bearer.guard';
import { CurrentProject } from '../../access/current-caller.decorator';
import { ServiceRoleGuard } from '../../access/service-role.guard';
import { invalidParameters } from '../../common/errors/http-errors';
import { JsonBodyInterceptor } from '../../http/bodies/json-body.interceptor';
import { Answer, JsonBody } from '../../http/docs/answer.decorator';
import { JSON_BODY_ERRORS } from '../../http/docs/standard-errors';
import type { Project } from '../../projects/project';
import { invalidEmail, mailNotFound, mailNotSent } from '../auth.errors';
import { FailedMailService } from '../mail/failed-mail.service';
import { MailComposer } from '../mail/mail-composer.service';
import { TestMailService } from '../mail/test-mail.service';
import { AuthErrors, IdParam, ProjectIdParam, SERVICE_ERRORS, tooManyRequests } from './auth-docs.decorator';
import { FailedMailsDto, MailContentDto } from './dto/admin-answers.dto';
import { MailPreviewDto, TestMailDto } from './dto/admin-mails.dto';
import { MessageDto } from './dto/auth-answers.dto';

@ApiTags('auth')
@ApiSecurity({ apikey: [], bearer: [] })
@ProjectIdParam()
@Controller('v1/auth/:project_id/admin')
@UseGuards(ApiKeyGuard, BearerGuard, ServiceRoleGuard)
export class AdminMailsController {
  constructor(
    private readonly failedMails: FailedMailService,
    private readonly composer: MailComposer,
    private readonly testMails: TestMailService,
  ) {}

  @Get('failed-mails')
  @ApiOperation({
    operationId: 'adminListFailedMails',
    summary: 'List failed mails',
    description:
      'Needs the service-role key, as apikey or as bearer. Mails are given up when delivery fails permanently or too often.',
  })
  @Answer(200, 'The newest first', FailedMailsDto)
  @AuthErrors(SERVICE_ERRORS)
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
  @ApiOperation({
    operationId: 'adminRetryMail',
    summary: 'Retry a failed mail',
    description:
      'Needs the service-role key, as apikey or as bearer. The mail is queued with its original token, so it can be sent only while that token is valid.',
  })
  @IdParam('mail_id', 'From the list of failed mails')
  @Answer(200, 'The mail is queued', MessageDto)
  @AuthErrors(mailNotFound(), SERVICE_ERRORS)
  async retryMail(@CurrentProject() project: Project, @Param('mail_id') id: string): Promise<MessageDto> {
    await this.failedMails.retry(project, id);
    return { message: 'The mail is queued again' };
  }

  @Post('mail-preview')
  @HttpCode(200)
  @UseInterceptors(JsonBodyInterceptor)
  @ApiOperation({
    operationId: 'adminPreviewMail',
    summary: 'Preview a mail with sample values',
    description:
      "Needs the service-role key, as apikey or as bearer. Omitted members are taken from the project's templates, so a draft can be previewed part by part.",
  })
  @JsonBody(MailPreviewDto)
  @Answer(200, 'The mail with sample values', MailContentDto)
  @AuthErrors(
    invalidParameters('language must be a tag such as de or pt-BR'),
    JSON_BODY_ERRORS,
    SERVICE_ERRORS,
  )
  previewMail(
    @CurrentProject() project: Project,
    @Body() { kind, language, ...draft }: MailPreviewDto,
  ): Promise<MailContentDto> {
    return this.composer.preview(project, { kind, language: language ?? undefined }, partsOf(draft));
  }

  @Post('mail-test')
  @HttpCode(200)
  @UseInterceptors(JsonBodyInterceptor)
  @ApiOperation({
    operationId: 'adminSendTestMail',
    summary: 'Send a test mail',
    description:
      "Needs the service-role key, as apikey or as bearer. Takes the members of the preview and the address. The mail is sent immediately, and the response follows when the mail server has accepted it. Its token is a sample and does not work. The mail counts against the project's daily quota. After 20 test mails of a project, or 10 to one address, further ones must wait, longer each time. A project can send one at a time.",
  })
  @JsonBody(TestMailDto)
  @Answer(200, 'The mail server has accepted the mail', MessageDto)
  @AuthErrors(
    invalidEmail(),
    invalidParameters('language must be a tag such as de or pt-BR'),
    mailNotSent('connect ECONNREFUSED 127.0.0.1:25'),
    tooManyRequests(),
    JSON_BODY_ERRORS,
    SERVICE_ERRORS,
  )
  async sendTestMail(
    @CurrentProject() project: Project,
    @Body() { kind, language, to, ...draft }: TestMailDto,
  ): Promise<MessageDto> {
    await this.testMails.send(project, { kind, to, language: language ?? undefined }, partsOf(draft));
    return { message: 'The mail has been sent' };
  }
}

/** The parts that a draft has. Null means the same as an absent member. */
function partsOf({
  subject,
  text,
  html,
}: Pick<MailPreviewDto, 'subject' | 'text' | 'html'>): Partial<MailContentDto> {
  const parts = Object.entries({ subject, text, html }).filter(([, part]) => typeof part === 'string');
  return Object.fromEntries(parts);
}
