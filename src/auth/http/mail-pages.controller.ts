/** The hosted pages that mails link to, unless a project has pages of its own. */
import {
  Controller,
  Get,
  HttpCode,
  Param,
  Post,
  Query,
  Req,
  Res,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { PublicRoute } from '../../access/public-route.decorator';
import { AppError } from '../../common/errors/app-error';
import { httpError } from '../../common/errors/http-errors';
import { projectPaused } from '../../database/pools/pool.errors';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { EmailVerificationService } from '../mail/email-verification.service';
import { parseAcceptLanguage } from '../../http/syntax/accept-language';
import { languageFor } from '../mail/languages/languages';
import { PasswordResetService } from '../passwords/password-reset.service';
import type { RequestOrigin } from '../../identity/request-origin';
import { ClientThrottlerGuard } from '../../identity/http/client-throttler.guard';
import { CurrentOrigin } from '../../identity/http/current-origin.decorator';
import { MailFormBody, MailFormInterceptor } from './mail-form.interceptor';
import { faultOf, formOf, mailPage, MailPage, PageContext, pageOf } from './mail-page';

@ApiExcludeController()
@Controller('v1/auth/:project_id')
export class MailPagesController {
  constructor(
    private readonly projects: ProjectRegistry,
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
    const context = await this.contextOf('reset', id, request);
    respond(response, 200, pageOf(context, { form: formOf(context, token) }));
  }

  @Post('reset')
  @HttpCode(200)
  @UseGuards(ClientThrottlerGuard)
  @UseInterceptors(MailFormInterceptor)
  @PublicRoute('the form of the page sends it; the mailed token in it is the credential')
  async reset(
    @Param('project_id') id: string,
    @MailFormBody() body: URLSearchParams,
    @CurrentOrigin() origin: RequestOrigin,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const context = await this.contextOf('reset', id, request);
    const [token, password] = [body.get('token') ?? '', body.get('password') ?? ''];
    const fault = faultOf(context, password);
    if (fault)
      return respond(response, 400, pageOf(context, { message: fault, form: formOf(context, token) }));
    return answer(response, context, this.resets.update(context.project, { token, password }, origin));
  }

  @Get('verify')
  @PublicRoute('a mail links to it; it shows a button and spends nothing')
  async showVerify(
    @Param('project_id') id: string,
    @Query('token') token: unknown,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const context = await this.contextOf('verify', id, request);
    respond(response, 200, pageOf(context, { form: formOf(context, token) }));
  }

  @Post('verify')
  @HttpCode(200)
  @UseGuards(ClientThrottlerGuard)
  @UseInterceptors(MailFormInterceptor)
  @PublicRoute('the form of the page sends it; the mailed token in it is the credential')
  async verify(
    @Param('project_id') id: string,
    @MailFormBody() body: URLSearchParams,
    @CurrentOrigin() origin: RequestOrigin,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const context = await this.contextOf('verify', id, request);
    return answer(
      response,
      context,
      this.verification.confirm(context.project, body.get('token') ?? '', origin),
    );
  }

  private async contextOf(page: PageContext['page'], id: string, request: Request): Promise<PageContext> {
    const project = (await this.projects.findById(id)) ?? (await this.projects.findBySlug(id));
    if (!project) throw httpError(404, 'There is no such page');
    if (project.database.isPaused) throw projectPaused();
    const wanted = parseAcceptLanguage(request.get('accept-language'));
    return { page, project, texts: languageFor([...wanted, project.settings.locale]) };
  }
}

/** Shows the outcome of the work as a page. Server errors go to the error filter, which logs them. */
async function answer(response: Response, context: PageContext, work: Promise<void>): Promise<void> {
  const { pages } = context.texts;
  try {
    await work;
    respond(response, 200, pageOf(context, { message: pages[context.page].done }));
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    const message = error.code === 'invalid_token' ? pages.invalidToken : pages.failed;
    respond(response, error.status, pageOf(context, { message }), error.headers);
  }
}

function respond(
  response: Response,
  status: number,
  page: MailPage,
  extraHeaders: Readonly<Record<string, string>> = {},
): void {
  const { headers, html } = mailPage(page);
  response
    .status(status)
    .set({ ...headers, ...extraHeaders })
    .send(html);
}
