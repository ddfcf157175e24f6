/** The page that links in mails of `/auth/v1` open. Mail scanners open links too, so only its button spends the token. */
import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { PublicRoute } from '../../../access/public-route.decorator';
import { AppError } from '../../../common/errors/app-error';
import { Clock } from '../../../common/time/clock';
import { EmailVerificationService } from '../../mail/email-verification.service';
import { MailedSignInService } from '../../codes/mailed-sign-in.service';
import { redirectFor } from '../../codes/redirects';
import { FormRoute, FormBody } from '../../../identity/http/form.decorator';
import { faultOf, formOf, type MailForm, type PageContext } from '../mail-page';
import { MailPageContexts, respondWithFailure, showPage } from '../mail-page-contexts';
import { GOTRUE_BASE } from './gotrue-api.decorator';
import { toGoTrue } from './gotrue-errors';
import { isVerifyType, kindsOf } from './gotrue-mail-types';
import { addressFor, errorAddress, redirect, sourceOf } from './gotrue-redirects';

@ApiExcludeController()
@Controller(GOTRUE_BASE)
export class GoTruePagesController {
  constructor(
    private readonly contexts: MailPageContexts,
    private readonly mailed: MailedSignInService,
    private readonly verification: EmailVerificationService,
    private readonly clock: Clock,
  ) {}

  @Get('verify')
  @PublicRoute('a mail links to it; it shows a button and spends nothing')
  async show(
    @Param('project_slug') slug: string,
    @Query() query: Readonly<Record<string, unknown>>,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const type = textOf(query.type);
    const context = await this.contexts.find(pageFor(type), slug, request);
    const target = redirectFor(context.project.settings, textOf(query.redirect_to) || undefined);
    const form = await this.form(context, textOf(query.token), { type, target });
    showPage(response, context, { form, formTarget: sourceOf(target) });
  }

  @FormRoute('verify/confirm')
  async confirm(
    @Param('project_slug') slug: string,
    @FormBody() body: URLSearchParams,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const type = body.get('type') ?? '';
    const context = await this.contexts.find(pageFor(type), slug, request);
    const { project, texts } = context;
    // Checks again, because anybody can send the form.
    const target = redirectFor(project.settings, body.get('redirect_to') || undefined);
    try {
      const kinds = isVerifyType(type) ? kindsOf(type) : [];
      const [token, password] = [body.get('token') ?? '', body.get('password') ?? ''];
      const form = await this.form(context, token, { type, target });
      const fault = form.password ? faultOf(context, password) : null;
      if (fault)
        return showPage(response, context, { message: fault, form, formTarget: sourceOf(target) }, 400);
      const newHash = form.password ? await this.verification.hashFor(project, { token, password }) : null;
      const outcome = await this.mailed.followLink(context, { token, newHash }, kinds);
      if (target !== null)
        return redirect(response, addressFor(target, outcome, this.clock.nowSeconds(), { type }));
      showPage(response, context, { message: texts.pages[context.page].done });
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      if (target !== null) return redirect(response, errorAddress(target, toGoTrue(error)));
      respondWithFailure(response, context, error);
    }
  }

  /** Asks for a password if somebody else may have chosen the current one. */
  private async form(
    context: PageContext,
    token: string,
    { type, target }: { type: string; target: string | null },
  ): Promise<MailForm> {
    const asks = await this.verification.asksPassword(context.project, token);
    return {
      ...formOf(context, token, asks),
      action: 'verify/confirm',
      fields: { type: isVerifyType(type) ? type : '', redirect_to: target ?? '' },
    };
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const pageFor = (type: string): PageContext['page'] =>
  type === 'signup' || type === 'email_change' ? 'verify' : 'signIn';
