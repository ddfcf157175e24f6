/** Single sign-on of staff: to an issuer and back, a directory, and the second factor if the issuer did not ask for one. */
import { Controller, Get, HttpCode, Inject, Post, Query, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeEndpoint, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { rateLimited } from '../../access/access.errors';
import { PublicRoute } from '../../access/public-route.decorator';
import type { RequestOrigin } from '../../identity/request-origin';
import { ClientThrottlerGuard, LIMIT_HEADERS } from '../../identity/http/client-throttler.guard';
import { FormBody, FormRoute } from '../../identity/http/form.decorator';
import { CurrentOrigin } from '../../identity/http/current-origin.decorator';
import { AppError, invalidParameters } from '../../common/errors/app-error';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { type DocumentedHeaders, TEXT } from '../../http/docs/documented-headers';
import { tooManyHeaders } from '../../http/request-head';
import { StrictBody } from '../../http/input/strict-input.decorator';
import type { Browser } from '../sessions/browser';
import { StaffLdap } from '../single-sign-on/staff-ldap.service';
import { StaffSaml } from '../single-sign-on/staff-saml.service';
import { StaffOidcClient } from '../single-sign-on/staff-oidc-client.service';
import { SingleSignOn } from '../single-sign-on/single-sign-on.service';
import {
  accountDisabled,
  addressTaken,
  factorRequired,
  noGroupRole,
  samlUnreachable,
  wayUnused,
  wrongFactorCode,
} from '../staff.errors';
import {
  directoryFailed,
  flowOver,
  oidcUnreachable,
  passkeyFailed,
  samlFailed,
  wrongCredentials,
} from '../../identity/identity.errors';
import { FactorCodeDto, SignInStaffWithLdapDto } from './dto/staff-inputs.dto';
import { SignInMethodsResponse, StaffSessionResponse } from './dto/staff-responses';
import { SESSION_HEADERS, SessionResponses } from './session-responses.service';
import { CurrentBrowser, LIMITED_DOCS, PublicStaffApi } from './staff-api.decorator';
import { documentHandlers } from '../../http/docs/controller-docs';
import { SERVER_ERRORS } from '../../http/docs/standard-errors';
import {
  Answer,
  Describe,
  EmptyAnswer,
  Errors,
  QueryText,
  StreamAnswer,
  together,
} from '../../http/docs/operation.decorators';

const REDIRECT_HEADERS: DocumentedHeaders = {
  ...SESSION_HEADERS,
  Location: { description: 'The page to open', schema: TEXT },
};

/** The URL of the callback contains the code, which no other page needs to know. */
const CALLBACK_HEADERS: DocumentedHeaders = {
  ...REDIRECT_HEADERS,
  'Referrer-Policy': { description: '`no-referrer`', schema: TEXT },
};

const END_OF_CALLBACK = together(
  EmptyAnswer(303, 'The console', { ...CALLBACK_HEADERS, ...LIMIT_HEADERS }),
  Errors(rateLimited(60), tooManyHeaders()),
);

const FINISH_SINGLE_SIGN_ON_DOCS = together(
  QueryText('code', 'From the issuer'),
  QueryText('state', 'The value that was sent to the issuer'),
  QueryText('iss', 'The issuer (RFC 9207)'),
  QueryText('error', 'Error from the issuer, in place of the code'),
  END_OF_CALLBACK,
);

const FINISH_SAML_DOCS = together(QueryText('answer', 'The verified response, encrypted'), END_OF_CALLBACK);

@PublicStaffApi()
@Controller('admin/v1/session')
export class SingleSignOnController {
  constructor(
    private readonly signOn: SingleSignOn,
    private readonly client: StaffOidcClient,
    private readonly saml: StaffSaml,
    private readonly ldap: StaffLdap,
    private readonly responses: SessionResponses,
    @Inject(SERVER_CONFIG) private readonly server: ServerConfig,
  ) {}

  @Get('methods')
  @PublicRoute('the sign-in page asks it which buttons to show')
  @Describe(`List the ways to sign in to the administration
    Needs no credential.`)
  @Answer(200, 'The available ways to sign in', SignInMethodsResponse)
  @Errors(tooManyHeaders())
  getSignInMethods(): SignInMethodsResponse {
    return {
      password: true,
      passkey: true,
      oidc_issuer: this.client.issuerHost,
      saml_provider: this.saml.title,
      ldap_directory: this.ldap.host,
    };
  }

  @Get('oidc')
  @PublicRoute('it only leads to the sign-in page of the issuer')
  @Describe(`Start single sign-on
    For browsers: sets a short-lived cookie that binds the sign-in to the browser, and redirects. Needs the member oidc of STAFF_SIGN_IN.`)
  @EmptyAnswer(303, 'The sign-in page of the issuer', REDIRECT_HEADERS)
  @Errors(wayUnused('oidc'), oidcUnreachable())
  async beginSingleSignOn(@Res() response: Response): Promise<void> {
    redirect(response, await this.signOn.beginOidc(response));
  }

  @Get('oidc/callback')
  @UseGuards(ClientThrottlerGuard)
  @PublicRoute('the code of the issuer is the credential')
  @Describe(`Return from the issuer of single sign-on
    Verifies the response of the issuer and redirects to the console with a session, or with the error code as \`sign_in_error\` in the fragment of the URL. After \`factor_required\`, continue with POST /admin/v1/session/oidc.`)
  @FINISH_SINGLE_SIGN_ON_DOCS
  async finishSingleSignOn(@CurrentBrowser() browser: Browser, @Res() response: Response): Promise<void> {
    // The base URL comes from the configuration, so a Host header has no influence.
    const { search } = new URL(browser.request.originalUrl, this.server.publicUrl);
    await this.lead(response, this.signOn.finishOidc(search, browser));
  }

  @Post('oidc')
  @PublicRoute('the cookie of the callback is the credential')
  @Describe(`Complete single sign-on with the second factor
    Also after SAML. Needed if the callback returned \`factor_required\`: the account has a second factor, and the issuer did not ask for one. Wrong codes delay further attempts (429).`)
  @Answer(200, 'The session, with its cookie', StaffSessionResponse, SESSION_HEADERS)
  @Errors(invalidParameters('code should not be empty'), wrongFactorCode(), flowOver(), rateLimited(60))
  async completeSingleSignOn(
    @StrictBody() { code }: FactorCodeDto,
    @CurrentBrowser() browser: Browser,
  ): Promise<StaffSessionResponse> {
    return this.responses.current(await this.signOn.complete(code, browser));
  }

  @Get('saml')
  @UseGuards(ClientThrottlerGuard)
  @PublicRoute('it only leads to the sign-in page of the identity provider')
  @Describe(`Start single sign-on with SAML 2.0
    For browsers: sets a short-lived cookie that binds the sign-in to the browser, and redirects. Needs the member saml of STAFF_SIGN_IN.`)
  @EmptyAnswer(303, 'The sign-in page of the identity provider', { ...REDIRECT_HEADERS, ...LIMIT_HEADERS })
  @Errors(wayUnused('saml'), samlFailed(), samlUnreachable(), rateLimited(60))
  async beginSaml(@Res() response: Response): Promise<void> {
    redirect(response, await this.signOn.beginSaml(response));
  }

  @Get('saml/callback')
  @UseGuards(ClientThrottlerGuard)
  @PublicRoute('the sealed response of the identity provider is the credential')
  @Describe(`End single sign-on with SAML 2.0
    The address of responses leads browsers here, where the cookie of the sign-in is sent. Redirects to the console as the callback of OpenID Connect does.`)
  @FINISH_SAML_DOCS
  async finishSaml(
    @Query('answer') answer: unknown,
    @CurrentBrowser() browser: Browser,
    @Res() response: Response,
  ): Promise<void> {
    const sealed = typeof answer === 'string' ? answer : '';
    await this.lead(response, this.signOn.finishSaml(sealed, browser));
  }

  @Post('ldap')
  @HttpCode(200)
  @UseGuards(ClientThrottlerGuard)
  @PublicRoute('it checks the login and the password in the body')
  @Describe(`Sign in with the password of a directory
    Needs the member ldap of STAFF_SIGN_IN. An account with a second factor needs one of its codes, a recovery code, or a passkey, as POST /admin/v1/session does. Wrong passwords delay further attempts (429).`)
  @Answer(200, 'The session, with its cookie', StaffSessionResponse, { ...SESSION_HEADERS, ...LIMIT_HEADERS })
  @Errors(invalidParameters('login should not be empty'), wrongCredentials(), factorRequired())
  @Errors(wrongFactorCode(), passkeyFailed(), flowOver(), accountDisabled(), noGroupRole('ldap'))
  @Errors(addressTaken('ldap'), wayUnused('ldap'), directoryFailed(), rateLimited(60))
  async signInStaffWithLdap(
    @StrictBody() body: SignInStaffWithLdapDto,
    @CurrentBrowser() browser: Browser,
  ): Promise<StaffSessionResponse> {
    return this.responses.current(await this.signOn.signInWithLdap(body, browser));
  }

  private lead(response: Response, work: Promise<void>): Promise<void> {
    return leadToConsole(response, this.server, work);
  }
}

/** The addresses that the identity provider uses. Its own page sends the responses, so their origin is not checked. */
@ApiTags('admin')
@documentHandlers(() => ({ docs: LIMITED_DOCS, errors: [SERVER_ERRORS] }))
@Controller('admin/v1/session/saml')
export class StaffSamlController {
  constructor(
    private readonly signOn: SingleSignOn,
    private readonly saml: StaffSaml,
    @Inject(SERVER_CONFIG) private readonly server: ServerConfig,
  ) {}

  @Get('metadata')
  @UseGuards(ClientThrottlerGuard)
  @PublicRoute('identity providers read it, and it only has addresses')
  @Describe(`Get the metadata of the service provider (SAML 2.0)
    Register this address, or the XML, at the identity provider.`)
  @StreamAnswer('SAML 2.0 metadata', { 'application/xml': '<EntityDescriptor .../>' }, LIMIT_HEADERS)
  @Errors(wayUnused('saml'), rateLimited(60), tooManyHeaders())
  async getStaffSamlMetadata(@Res() response: Response): Promise<void> {
    response.set('Content-Type', 'application/xml; charset=utf-8').send(await this.saml.metadata());
  }

  @FormRoute('acs', 'the signed response of the identity provider is the credential', true)
  @ApiExcludeEndpoint()
  async receive(
    @FormBody() form: URLSearchParams,
    @CurrentOrigin() origin: RequestOrigin,
    @Res() response: Response,
  ): Promise<void> {
    const [given = '', ...others] = form.getAll('SAMLResponse');
    const received = this.signOn.receiveSaml(others.length > 0 ? '' : given, origin);
    // Another site submits the form, so the browser sends the cookie of the sign-in only with the next request.
    await leadToConsole(
      response,
      this.server,
      received,
      (sealed) => `${this.server.publicUrl}/admin/v1/session/saml/callback?answer=${sealed}`,
    );
  }
}

/** @param next the address to go to after success; default: the console */
async function leadToConsole<T>(
  response: Response,
  { publicUrl }: ServerConfig,
  work: Promise<T>,
  next: (result: T) => string = () => `${publicUrl}/console/`,
): Promise<void> {
  const target = await work.then(next, (fault: unknown) => {
    if (fault instanceof AppError) return `${publicUrl}/console/#sign_in_error=${fault.code}`;
    throw fault;
  });
  response.setHeader('Referrer-Policy', 'no-referrer');
  redirect(response, target);
}

/** Sent without the body that Express adds: no client needs it. */
function redirect(response: Response, location: string): void {
  response.status(303).setHeader('Location', location).end();
}
