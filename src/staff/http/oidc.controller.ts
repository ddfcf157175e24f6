/** Single sign-on of staff: to the issuer, back from it, and the second factor where the issuer did not ask for one. */
import { Controller, Get, Inject, Post, Req, Res } from '@nestjs/common';
import { ApiQuery, ApiResponse } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { rateLimited } from '../../access/access.errors';
import { PublicRoute } from '../../access/public-route.decorator';
import type { RequestOrigin } from '../../identity/request-origin';
import { CurrentOrigin } from '../../identity/http/current-origin.decorator';
import { AppError } from '../../common/errors/app-error';
import { invalidParameters } from '../../common/errors/http-errors';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { type DocumentedHeaders, TEXT } from '../../http/docs/documented-headers';
import { tooManyHeaders } from '../../http/request-head';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { StaffOidcClient } from '../oidc/staff-oidc-client.service';
import { OidcSignIn } from '../oidc/oidc-sign-in.service';
import { oidcUnused, wrongFactorCode } from '../staff.errors';
import { flowOver, oidcUnreachable } from '../../identity/identity.errors';
import { FactorCodeDto } from './dto/staff-inputs.dto';
import { SignInMethodsResponse, StaffSessionResponse } from './dto/staff-responses';
import { SESSION_HEADERS, SessionResponses } from './session-responses.service';
import { PublicStaffApi } from './staff-api.decorator';
import { Answer, Describe, Errors } from '../../http/docs/operation.decorators';

const REDIRECT_HEADERS: DocumentedHeaders = {
  ...SESSION_HEADERS,
  Location: { description: 'The page to open', schema: TEXT },
};

/** The address of the callback has the code, which no other page needs to see. */
const CALLBACK_HEADERS: DocumentedHeaders = {
  ...REDIRECT_HEADERS,
  'Referrer-Policy': { description: '`no-referrer`', schema: TEXT },
};

const CallbackParam = (name: string, description: string): MethodDecorator =>
  ApiQuery({ name, type: String, required: false, description });

@PublicStaffApi()
@Controller('admin/v1/session')
export class OidcController {
  constructor(
    private readonly oidc: OidcSignIn,
    private readonly client: StaffOidcClient,
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
    return { password: true, passkey: true, oidc_issuer: this.client.issuerHost };
  }

  @Get('oidc')
  @PublicRoute('it only leads to the sign-in page of the issuer')
  @Describe(`Start single sign-on
    For browsers: sets a short-lived cookie that binds the sign-in to the browser, and redirects. Needs STAFF_OIDC_ISSUER.`)
  @ApiResponse({ status: 303, description: 'The sign-in page of the issuer', headers: REDIRECT_HEADERS })
  @Errors(oidcUnused(), oidcUnreachable())
  async beginSingleSignOn(@Res() response: Response): Promise<void> {
    redirect(response, await this.oidc.begin(response));
  }

  @Get('oidc/callback')
  @PublicRoute('the code of the issuer is the credential')
  @Describe(`Return from the issuer of single sign-on
    Verifies the response of the issuer and redirects to the console with a session, or with the error code as \`sign_in_error\` in the fragment of the URL. After \`factor_required\`, continue with POST /admin/v1/session/oidc.`)
  @CallbackParam('code', 'From the issuer')
  @CallbackParam('state', 'The value that was sent to the issuer')
  @CallbackParam('iss', 'The issuer (RFC 9207)')
  @CallbackParam('error', 'Error from the issuer, in place of the code')
  @ApiResponse({ status: 303, description: 'The console', headers: CALLBACK_HEADERS })
  @Errors(tooManyHeaders())
  async finishSingleSignOn(
    @CurrentOrigin() origin: RequestOrigin,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    // The address of this Plinth is that of the configuration; a Host header has no influence.
    const { search } = new URL(request.originalUrl, this.server.publicUrl);
    const error = await this.oidc.finish(search, request, response, origin).then(
      () => null,
      (fault: unknown) => {
        if (fault instanceof AppError) return fault;
        throw fault;
      },
    );
    const fragment = error ? `#sign_in_error=${error.code}` : '';
    response.setHeader('Referrer-Policy', 'no-referrer');
    redirect(response, `${this.server.publicUrl}/console/${fragment}`);
  }

  @Post('oidc')
  @PublicRoute('the cookie of the callback is the credential')
  @Describe(`Complete single sign-on with the second factor
    Needed if the callback returned \`factor_required\`: the account has a second factor, and the issuer did not ask for one. Wrong codes delay further attempts (429).`)
  @Answer(200, 'The session, with its cookie', StaffSessionResponse, SESSION_HEADERS)
  @Errors(invalidParameters('code should not be empty'), wrongFactorCode(), flowOver(), rateLimited(60))
  async completeSingleSignOn(
    @StrictBody() { code }: FactorCodeDto,
    @CurrentOrigin() origin: RequestOrigin,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StaffSessionResponse> {
    return this.responses.begun(await this.oidc.complete(code, request, response, origin), response);
  }
}

/** Without the body of Express, which no client needs. */
function redirect(response: Response, location: string): void {
  response.status(303).setHeader('Location', location).end();
}
