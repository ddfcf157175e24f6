/** The hosted pages that mails link to, unless a project has its own pages. */
import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { PublicRoute } from '../../access/public-route.decorator';
import { AppError } from '../../common/errors/app-error';
import { EmailVerificationService } from '../mail/email-verification.service';
import { PasswordResetService } from '../passwords/password-reset.service';
import { FormRoute, FormBody } from '../../identity/http/form.decorator';
import { faultOf, formOf, PageContext } from './mail-page';
import { MailPageContexts, respondWithFailure, showPage } from './mail-page-contexts';

@ApiExcludeController()
@Controller('v1/auth/:project_id')
export class MailPagesController {
  constructor(
    private readonly contexts: MailPageContexts,
    private readonly resets: PasswordResetService,
    private readonly verification: EmailVerificationService,
  ) {}

  @Get('reset')
  @PublicRoute('a mail links to it; it shows a form and spends nothing')
  async showReset(
    @Param('project_id') id: string,
    @Query('token') token: unknown,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const context = await this.contexts.find('reset', id, request);
    showPage(response, context, { form: formOf(context, token) });
  }

  @FormRoute('reset')
  async reset(
    @Param('project_id') id: string,
    @FormBody() body: URLSearchParams,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const context = await this.contexts.find('reset', id, request);
    const [token, password] = [body.get('token') ?? '', body.get('password') ?? ''];
    const fault = faultOf(context, password);
    if (fault) return showPage(response, context, { message: fault, form: formOf(context, token) }, 400);
    return answer(response, context, async () => {
      await this.resets.updatePassword(context, { token, password });
      return context.texts.pages.reset.done;
    });
  }

  @Get('verify')
  @PublicRoute('a mail links to it; it shows a button and spends nothing')
  async showVerify(
    @Param('project_id') id: string,
    @Query('token') token: unknown,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const context = await this.contexts.find('verify', id, request);
    const asks = typeof token === 'string' && (await this.verification.asksPassword(context.project, token));
    showPage(response, context, { form: formOf(context, token, asks) });
  }

  @FormRoute('verify')
  async verify(
    @Param('project_id') id: string,
    @FormBody() body: URLSearchParams,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const context = await this.contexts.find('verify', id, request);
    const { done, noPassword } = context.texts.pages.verify;
    const [token, password] = [body.get('token') ?? '', body.get('password') ?? ''];
    const asks = await this.verification.asksPassword(context.project, token);
    const fault = asks ? faultOf(context, password) : null;
    if (fault)
      return showPage(response, context, { message: fault, form: formOf(context, token, asks) }, 400);
    return answer(response, context, async () => {
      const proof = { token, ...(asks ? { password } : {}) };
      return (await this.verification.confirm(context, proof)) ? done : noPassword;
    });
  }
}

/** Shows the outcome as a page. Server errors go to the error filter, which logs them. @param work returns the message of success */
async function answer(response: Response, context: PageContext, work: () => Promise<string>): Promise<void> {
  try {
    showPage(response, context, { message: await work() });
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    respondWithFailure(response, context, error);
  }
}
