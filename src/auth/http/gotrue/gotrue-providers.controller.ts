/** GoTrue's paths that browsers open on the way to a provider and back. */
import { Controller, Get, Inject, Param, Query, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeEndpoint, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { randomBytes } from 'node:crypto';
import { PublicRoute } from '../../../access/public-route.decorator';
import { AppError } from '../../../common/errors/app-error';
import { Clock } from '../../../common/time/clock';
import { SERVER_CONFIG, ServerConfig } from '../../../config/app-config';
import { documentHandlers } from '../../../http/docs/controller-docs';
import { type DocumentedHeaders, TEXT } from '../../../http/docs/documented-headers';
import {
  Describe,
  EmptyAnswer,
  Errors,
  QueryText,
  StreamAnswer,
  together,
} from '../../../http/docs/operation.decorators';
import { CookieJar } from '../../../identity/cookie-jar';
import { ClientThrottlerGuard, LIMIT_HEADERS } from '../../../identity/http/client-throttler.guard';
import { CurrentOrigin } from '../../../identity/http/current-origin.decorator';
import { oidcUnreachable } from '../../../identity/identity.errors';
import type { RequestOrigin } from '../../../identity/request-origin';
import type { Project } from '../../../projects/project';
import { projectNotFound } from '../../../projects/projects.errors';
import { invalidState, noRedirect, providerNotEnabled } from '../../auth.errors';
import {
  type ProviderFlow,
  type ProviderOutcome,
  type ProviderSession,
  ProviderSignIn,
} from '../../providers/provider-sign-in.service';
import { tooManyRequests } from '../auth-docs.decorator';
import { FormRoute, FormBody } from '../../../identity/http/form.decorator';
import { MailPageContexts, respondWithPage, showPage } from '../mail-page-contexts';
import { GOTRUE_BASE, GOTRUE_DOCS } from './gotrue-api.decorator';
import { flowOf } from './gotrue-mail-types';
import { trialPage } from './trial-page';
import { addressFor, redirect, REDIRECT_HEADERS, redirectFault, sourceOf } from './gotrue-redirects';
import { PublicProjects } from './public-project.service';
import { providerRequest, tokensOf } from './gotrue-provider-requests';

const COOKIE = 'plinth_sign_in';
/** Seconds: no sign-in may take longer. */
const COOKIE_SECONDS = 600;

const HEADERS: DocumentedHeaders = {
  ...REDIRECT_HEADERS,
  'Set-Cookie': { description: 'Binds the sign-in to the browser', schema: TEXT },
};

const PAGE_HEADERS: DocumentedHeaders = {
  ...LIMIT_HEADERS,
  'Cache-Control': { description: '`no-store`', schema: TEXT },
  'Content-Security-Policy': { description: 'Allows the form of the page only', schema: TEXT },
  'Referrer-Policy': { description: '`no-referrer`', schema: TEXT },
  'X-Frame-Options': { description: '`DENY`', schema: TEXT },
};

const AUTHORIZE_DOCS = together(
  QueryText('provider', 'Name of a provider of the project', 'google'),
  QueryText('redirect_to', 'The target of the sign-in: an address in the list of the project'),
  QueryText('scopes', 'Further scopes, separated by spaces'),
  QueryText('code_challenge', 'PKCE (RFC 7636)'),
  QueryText('code_challenge_method', '`s256` or `plain`'),
  EmptyAnswer(302, 'The page of the provider', HEADERS),
  Errors(providerNotEnabled(), noRedirect(), oidcUnreachable()),
);

const CALLBACK_DOCS = together(
  QueryText('code', 'From the provider'),
  QueryText('state', 'The value that was sent to the provider'),
  QueryText('iss', 'The issuer (RFC 9207)'),
  QueryText('error', 'Error from the provider, in place of the code'),
  EmptyAnswer(303, 'The application', HEADERS),
  StreamAnswer(
    'A page that asks whether the identity is linked, or shows the result of a test',
    { 'text/html': '<!doctype html>' },
    PAGE_HEADERS,
  ),
  Errors(invalidState()),
);

@ApiTags('auth')
@documentHandlers(() => ({ docs: GOTRUE_DOCS.limited, errors: [projectNotFound(), tooManyRequests()] }))
@Controller(GOTRUE_BASE)
export class GoTrueProvidersController {
  private readonly jar: CookieJar;

  constructor(
    private readonly signIns: ProviderSignIn,
    private readonly projects: PublicProjects,
    private readonly contexts: MailPageContexts,
    private readonly clock: Clock,
    @Inject(SERVER_CONFIG) { publicUrl }: ServerConfig,
  ) {
    this.jar = new CookieJar(COOKIE, 'Lax', publicUrl);
  }

  @Get('authorize')
  @UseGuards(ClientThrottlerGuard)
  @PublicRoute('browsers open it; it only leads to the page of a provider')
  @Describe(`Sign in with a provider (GoTrue)
    For browsers: redirects to the page of the provider. Without \`code_challenge\`, a cookie binds the sign-in to the browser. \`prompt\`, \`login_hint\` and other parameters for the page of the provider are passed on.`)
  @AUTHORIZE_DOCS
  async goTrueAuthorize(
    @Param('project_slug') slug: string,
    @Query() query: Readonly<Record<string, unknown>>,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const project = await this.projects.admit(slug, 'GET');
    const known = this.jar.read(request);
    // One browser has one value, so that sign-ins in several tabs do not disturb each other.
    const browser = /^[\w-]{43}$/.test(known ?? '') ? String(known) : randomBytes(32).toString('base64url');
    const { redirectTo, challenge = null } = flowOf(project, textOf(query.redirect_to), {
      code_challenge: textOf(query.code_challenge),
      code_challenge_method: textOf(query.code_challenge_method),
    });
    const begun = { ...providerRequest(query), redirectTo, challenge, browser, owner: null };
    const url = await this.signIns.begin(project, begun);
    this.jar.set(response, browser, COOKIE_SECONDS);
    redirect(response, url, 302);
  }

  @Get('callback')
  @UseGuards(ClientThrottlerGuard)
  @PublicRoute('the code of the provider is the credential')
  @Describe(`Return from a provider (GoTrue)
    Register this address at the provider. Verifies its answer and redirects to the application: with a \`code\` for \`token?grant_type=pkce\`, or with the session in the fragment; with \`error\`, \`error_code\` and \`error_description\` otherwise.`)
  @CALLBACK_DOCS
  async goTrueCallback(
    @Param('project_slug') slug: string,
    @CurrentOrigin() origin: RequestOrigin,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const project = await this.projects.admit(slug, 'POST');
    // Uses the configured address of this server, never the Host header.
    const { search, searchParams } = new URL(request.originalUrl, 'http://plinth.invalid');
    const { flow, fault } = this.open(project, searchParams.getAll('state'));
    if (!flow) return redirectFault(response, project.settings.site_url, fault);
    try {
      const browser = this.jar.read(request);
      const outcome = await this.signIns.complete({ project, origin }, flow, search, browser);
      if ('pending' in outcome) return await this.ask(slug, outcome, flow, request, response);
      if ('tried' in outcome) return respondWithPage(response, 200, trialPage(project, outcome.tried));
      redirect(response, this.addressFor(flow.redirectTo, outcome));
    } catch (error) {
      if (!flow.isTrial) return redirectFault(response, flow.redirectTo, error);
      if (!(error instanceof AppError)) throw error;
      respondWithPage(response, 200, trialPage(project, null, error.message));
    }
  }

  @FormRoute('callback', 'it leads to the same path by GET, where the code of the provider is the credential')
  @ApiExcludeEndpoint()
  receive(@FormBody() form: URLSearchParams, @Res() response: Response): void {
    // Apple's form comes from another site, so browsers send no cookie with it. They send the cookie after the redirect to the
    // address below.
    const given = ['code', 'state', 'iss', 'error'].flatMap((name) =>
      form.getAll(name).map((value): [string, string] => [name, value]),
    );
    redirect(response, `callback?${new URLSearchParams(given).toString()}`);
  }

  @FormRoute('callback/confirm', 'the form of the page sends it; the encrypted link in it is the credential')
  @ApiExcludeEndpoint()
  async confirmLink(
    @Param('project_slug') slug: string,
    @FormBody() form: URLSearchParams,
    @CurrentOrigin() origin: RequestOrigin,
    @Res() response: Response,
  ): Promise<void> {
    const project = await this.projects.admit(slug, 'POST');
    const sealed = form.get('link') ?? '';
    try {
      const { redirectTo, ...outcome } = await this.signIns.confirmLink({ project, origin }, sealed);
      redirect(response, this.addressFor(redirectTo, outcome));
    } catch (error) {
      redirectFault(response, project.settings.site_url, error);
    }
  }

  private open(project: Project, states: string[]): { flow: ProviderFlow | null; fault: unknown } {
    try {
      const [state = ''] = states.length === 1 ? states : [];
      return { flow: this.signIns.openState(project, state), fault: null };
    } catch (fault) {
      return { flow: null, fault };
    }
  }

  /** Asks the person at the browser: an application may have led somebody else here. */
  private async ask(
    slug: string,
    { pending, identity, email }: Extract<ProviderOutcome, { pending: string }>,
    { redirectTo }: ProviderFlow,
    request: Request,
    response: Response,
  ): Promise<void> {
    const context = await this.contexts.find('link', slug, request);
    const { button } = context.texts.pages.link;
    const message = `${identity.email?.address ?? identity.subject} (${identity.provider}) \u2192 ${email}`;
    const form = { action: 'callback/confirm', token: '', fields: { link: pending }, button };
    showPage(response, context, { message, form, formTarget: sourceOf(redirectTo) });
  }

  private addressFor(target: string, outcome: ProviderSession | { readonly code: string }): string {
    const tokens = 'tokens' in outcome ? tokensOf(outcome.tokens) : {};
    return addressFor(target, outcome, this.clock.nowSeconds(), tokens);
  }
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
