/** The pages that mails link to, unless a project names pages of its own. */
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
import { Project } from '../../projects/project';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { EmailVerificationService } from '../mail/email-verification.service';
import { LanguageTexts } from '../mail/languages/language';
import { languageFor, parseAcceptLanguage } from '../mail/languages/languages';
import { minLength, passwordFault } from '../passwords/password-policy';
import { PasswordResetService } from '../passwords/password-reset.service';
import type { RequestOrigin } from '../audit/request-origin';
import { AuthThrottlerGuard } from './auth-throttler.guard';
import { CurrentOrigin } from './current-origin.decorator';
import { MailFormBody } from './mail-form.decorator';
import { MailFormInterceptor } from './mail-form.interceptor';
import { MailForm, MailPage, mailPage } from './mail-page';

type PageName = 'reset' | 'verify';

/** What a project's page is made of. */
interface Scene {
  readonly page: PageName;
  readonly project: Project;
  readonly texts: LanguageTexts;
}

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
    const scene = await this.sceneOf('reset', id, request);
    respond(response, 200, pageOf(scene, { form: formOf(scene, token) }));
  }

  @Post('reset')
  @HttpCode(200)
  @UseGuards(AuthThrottlerGuard)
  @UseInterceptors(MailFormInterceptor)
  @PublicRoute('the form of the page sends it; the mailed token in it is the credential')
  async reset(
    @Param('project_id') id: string,
    @MailFormBody() body: URLSearchParams,
    @CurrentOrigin() origin: RequestOrigin,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const scene = await this.sceneOf('reset', id, request);
    const [token, password] = [body.get('token') ?? '', body.get('password') ?? ''];
    const fault = faultOf(scene, password);
    if (fault) return respond(response, 400, pageOf(scene, { message: fault, form: formOf(scene, token) }));
    return answer(response, scene, this.resets.update(scene.project, { token, password }, origin));
  }

  @Get('verify')
  @PublicRoute('a mail links to it; it shows a button and spends nothing')
  async showVerify(
    @Param('project_id') id: string,
    @Query('token') token: unknown,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const scene = await this.sceneOf('verify', id, request);
    respond(response, 200, pageOf(scene, { form: formOf(scene, token) }));
  }

  @Post('verify')
  @HttpCode(200)
  @UseGuards(AuthThrottlerGuard)
  @UseInterceptors(MailFormInterceptor)
  @PublicRoute('the form of the page sends it; the mailed token in it is the credential')
  async verify(
    @Param('project_id') id: string,
    @MailFormBody() body: URLSearchParams,
    @CurrentOrigin() origin: RequestOrigin,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const scene = await this.sceneOf('verify', id, request);
    return answer(response, scene, this.verification.confirm(scene.project, body.get('token') ?? '', origin));
  }

  private async sceneOf(page: PageName, id: string, request: Request): Promise<Scene> {
    const project = (await this.projects.findById(id)) ?? (await this.projects.findBySlug(id));
    if (!project) throw httpError(404, 'There is no such page');
    const wanted = parseAcceptLanguage(request.get('accept-language'));
    return { page, project, texts: languageFor([...wanted, project.settings.locale]) };
  }
}

/** Ends in a page, whatever became of the work; a failure of the server's is for the error filter, and its log. */
async function answer(response: Response, scene: Scene, work: Promise<void>): Promise<void> {
  const { pages } = scene.texts;
  try {
    await work;
    respond(response, 200, pageOf(scene, { message: pages[scene.page].done }));
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    const message = error.code === 'invalid_token' ? pages.invalidToken : pages.failed;
    respond(response, error.status, pageOf(scene, { message }), error.headers);
  }
}

function faultOf({ project, texts }: Scene, password: string): string | null {
  const fault = passwordFault(password, project.settings);
  if (!fault) return null;
  const { tooShort, tooLong, tooCommon, failed } = texts.pages;
  const messages = {
    too_short: tooShort.replace('{min}', String(minLength(project.settings))),
    too_long: tooLong,
    too_common: tooCommon,
    unusable: failed,
  };
  return messages[fault.kind];
}

/** Only what can be a token is written into the page: nothing else of the address ever is. */
function formOf({ page, project, texts }: Scene, token: unknown): MailForm {
  const { reset } = texts.pages;
  return {
    action: page,
    token: typeof token === 'string' && /^[\w-]{43}$/.test(token) ? token : '',
    button: texts.pages[page].button,
    ...(page === 'reset' ? { password: { label: reset.label, minLength: minLength(project.settings) } } : {}),
  };
}

function pageOf({ page, project, texts }: Scene, rest: Pick<MailPage, 'message' | 'form'>): MailPage {
  return { language: texts.tag, title: texts.pages[page].title, project: project.name, ...rest };
}

function respond(
  response: Response,
  status: number,
  page: MailPage,
  further: Readonly<Record<string, string>> = {},
): void {
  const { headers, html } = mailPage(page);
  response
    .status(status)
    .set({ ...headers, ...further })
    .send(html);
}
