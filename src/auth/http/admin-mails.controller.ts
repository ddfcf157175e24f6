/** Failed mails, mail previews and test mails, for administrators with the service-role key. */
import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import { CurrentProject } from '../../access/current-caller.decorator';
import { ChangesNoAccount } from '../../access/service-role.guard';
import { invalidParameters } from '../../common/errors/app-error';
import type { Project } from '../../projects/project';
import { mailNotFound, mailNotSent } from '../auth.errors';
import { invalidEmail } from '../../identity/identity.errors';
import { FailedMailService } from '../mail/failed-mail.service';
import { MailComposer } from '../mail/mail-composer.service';
import { TestMailService } from '../mail/test-mail.service';
import { AuthApi, tooManyRequests } from './auth-docs.decorator';
import { MailContentResponse } from './dto/admin-responses';
import { FailedMailsResponse, MailPreviewDto, TestMailDto, toFailedMail } from './dto/admin-mails.dto';
import { MessageAnswer, MessageResponse } from './dto/auth-responses';
import { Answer, Describe, Errors } from '../../http/docs/operation.decorators';

@ChangesNoAccount()
@AuthApi('service_role')
@Controller('v1/auth/:project_id/admin')
export class AdminMailsController {
  constructor(
    private readonly failedMails: FailedMailService,
    private readonly composer: MailComposer,
    private readonly testMails: TestMailService,
  ) {}

  @Get('failed-mails')
  @Describe(`List failed mails
    Needs the service-role key, as apikey or as bearer. A mail is listed here after its delivery failed permanently or too often.`)
  @Answer(200, 'The newest first', FailedMailsResponse)
  async adminListFailedMails(@CurrentProject() project: Project): Promise<FailedMailsResponse> {
    return { mails: (await this.failedMails.list(project)).map(toFailedMail) };
  }

  @Post('failed-mails/:mail_id/retry')
  @Describe(`Retry a failed mail
    Needs the service-role key, as apikey or as bearer. The mail is queued with its original token, so it can be sent only while that token is valid.`)
  @MessageAnswer('The mail is queued again', 'The mail is queued')
  @Errors(mailNotFound())
  async adminRetryMail(
    @CurrentProject() project: Project,
    @Param('mail_id') id: string,
  ): Promise<MessageResponse> {
    await this.failedMails.retry(project, id);
    return { message: 'The mail is queued again' };
  }

  @Post('mail-preview')
  @Describe(`Preview a mail with sample values
    Needs the service-role key, as apikey or as bearer. Omitted members are taken from the project's templates, so a draft can be previewed part by part.`)
  @Answer(200, 'The mail with sample values', MailContentResponse)
  @Errors(invalidParameters('language must be a tag such as de or pt-BR'))
  adminPreviewMail(
    @CurrentProject() project: Project,
    @Body() { kind, language, ...draft }: MailPreviewDto,
  ): Promise<MailContentResponse> {
    return this.composer.preview(project, { kind, language: language ?? undefined }, partsOf(draft));
  }

  @Post('mail-test')
  @Describe(`Send a test mail
    Needs the service-role key, as apikey or as bearer. Takes the members of the preview and the address. The mail is sent immediately, and the response follows when the mail server has accepted it. Its token is a sample and does not work. The mail counts against the project's daily quota. After 20 test mails of a project, or 10 to one address, further ones must wait, longer each time. A project can send one at a time.`)
  @MessageAnswer('The mail has been sent', 'The mail server has accepted the mail')
  @Errors(invalidEmail(), invalidParameters('language must be a tag such as de or pt-BR'))
  @Errors(mailNotSent('connect ECONNREFUSED 127.0.0.1:25'), tooManyRequests())
  async adminSendTestMail(
    @CurrentProject() project: Project,
    @Body() { kind, language, to, ...draft }: TestMailDto,
  ): Promise<MessageResponse> {
    await this.testMails.send(project, { kind, to, language: language ?? undefined }, partsOf(draft));
    return { message: 'The mail has been sent' };
  }
}

/** The parts that a draft has. Null means the same as an absent member. */
function partsOf({
  subject,
  text,
  html,
}: Pick<MailPreviewDto, 'subject' | 'text' | 'html'>): Partial<MailContentResponse> {
  const parts = Object.entries({ subject, text, html }).filter(([, part]) => typeof part === 'string');
  return Object.fromEntries(parts);
}
