/** The page that links in mails of `/auth/v1` open. Mail scanners open links too, so only its button spends the token. */
import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { PublicRoute } from '../../../access/public-route.decorator';
import { AppError } from '../../../common/errors/app-error';
import { Clock } from '../../../common/time/clock';
import { CurrentOrigin } from '../../../identity/http/current-origin.decorator';
import type { RequestOrigin } from '../../../identity/request-origin';
import { MailedSignInService } from '../../codes/mailed-sign-in.service';
import { redirectFor } from '../../codes/redirects';
import { MailForm, MailFormBody } from '../mail-form.interceptor';
import { formOf, type PageContext, pageOf } from '../mail-page';
import { MailPageContexts, respondWithFailure, respondWithPage } from '../mail-page-contexts';
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
    const form = {
      ...formOf(context, query.token),
      action: 'verify/confirm',
      fields: { type: isVerifyType(type) ? type : '', redirect_to: target ?? '' },
    };
    respondWithPage(response, 200, { ...pageOf(context, { form }), formTarget: sourceOf(target) });
  }

  @MailForm('verify/confirm')
  async confirm(
    @Param('project_slug') slug: string,
    @MailFormBody() body: URLSearchParams,
    @CurrentOrigin() origin: RequestOrigin,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const type = body.get('type') ?? '';
    const context = await this.contexts.find(pageFor(type), slug, request);
    const { project, texts } = context;
    // Checked again: anybody can send the form.
    const target = redirectFor(project.settings, body.get('redirect_to') || undefined);
    try {
      const kinds = isVerifyType(type) ? kindsOf(type) : [];
      const outcome = await this.mailed.followLink(project, body.get('token') ?? '', kinds, origin);
      if (target !== null)
        return redirect(response, addressFor(target, outcome, this.clock.nowSeconds(), { type }));
      respondWithPage(response, 200, pageOf(context, { message: texts.pages[context.page].done }));
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error;
      if (target !== null) return redirect(response, errorAddress(target, toGoTrue(error)));
      respondWithFailure(response, context, error);
    }
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const pageFor = (type: string): PageContext['page'] =>
  type === 'signup' || type === 'email_change' ? 'verify' : 'signIn';
