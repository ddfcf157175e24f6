/** The paths of OAuth 2.1 that applications use: authorization, tokens, registration, and OpenID Connect's userinfo. */
import {
  Body,
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
import { ApiBody, ApiConsumes, ApiExtraModels, ApiTags, getSchemaPath } from '@nestjs/swagger';
import { SkipThrottle } from '@nestjs/throttler';
import type { Request, Response } from 'express';
import { CurrentProject } from '../../../access/current-caller.decorator';
import { PublicRoute } from '../../../access/public-route.decorator';
import { UserGuard } from '../../../access/user.guard';
import { invalidParameters } from '../../../common/errors/app-error';
import { Clock } from '../../../common/time/clock';
import { JsonBodyInterceptor } from '../../../http/bodies/json-body.interceptor';
import { documentHandlers } from '../../../http/docs/controller-docs';
import { NOT_STORED } from '../../../http/docs/documented-headers';
import { UUID_EXAMPLE } from '../../../http/docs/documented-types';
import { exampleOf } from '../../../http/docs/example.decorator';
import {
  Answer,
  Describe,
  EmptyAnswer,
  Errors,
  QueryText,
  together,
} from '../../../http/docs/operation.decorators';
import { ClientThrottlerGuard, LIMIT_HEADERS } from '../../../identity/http/client-throttler.guard';
import { CurrentOrigin } from '../../../identity/http/current-origin.decorator';
import { FormBody, FormRoute, mediaTypeNotForm } from '../../../identity/http/form.decorator';
import type { RequestOrigin, Sender } from '../../../identity/request-origin';
import type { Project } from '../../../projects/project';
import { projectNotFound } from '../../../projects/projects.errors';
import {
  type AuthorizeQuery,
  OAuthAuthorizations,
  AUTHORIZE_PARAMETERS,
} from '../../oauth/oauth-authorization.service';
import { MAX_CLIENTS } from '../../oauth/oauth-client.repository';
import { type ClientProof, OAuthClients } from '../../oauth/oauth-clients.service';
import { type OAuthTokenAnswer, OAuthTokens } from '../../oauth/oauth-tokens.service';
import {
  invalidClient,
  invalidGrant,
  oauthFault,
  oauthServerDisabled,
  registrationDisabled,
  tooManyClients,
  unknownClient,
} from '../../oauth/oauth.errors';
import { tooManyRequests } from '../auth-docs.decorator';
import { CurrentTokenUser, type TokenUser } from '../current-session.decorator';
import {
  OAuthClientDto,
  OAuthClientResponse,
  OAuthTokenForm,
  OAuthTokenResponse,
  OAuthUserInfoResponse,
} from './dto/gotrue-oauth.dto';
import { GOTRUE_BASE, GOTRUE_DOCS, GoTrueApi, GoTrueController, OAUTH_DOCS } from './gotrue-api.decorator';
import { toClientInput, toClientView } from './gotrue-oauth-views';
import { redirect, REDIRECT_HEADERS } from './gotrue-redirects';
import { PublicProjects } from './public-project.service';

const BASE = `${GOTRUE_BASE}/oauth`;

const Text = (name: keyof AuthorizeQuery, description: string, example?: string): MethodDecorator =>
  QueryText(name, description, example);

const OAUTH_AUTHORIZE_DOCS = together(
  Text('client_id', 'The application', UUID_EXAMPLE),
  Text(
    'redirect_uri',
    'One of those that the client has registered, letter by letter',
    'https://calendar.example.com/callback',
  ),
  Text('response_type', '`code`', 'code'),
  Text('response_mode', '`query`'),
  Text('scope', 'Some of `openid`, `email`, `profile`, `phone`, `offline_access`; default: `email`'),
  Text('state', 'Comes back with the answer'),
  Text('nonce', 'Comes back in the ID token'),
  Text('prompt', '`none` gives `interaction_required`'),
  Text('code_challenge', 'PKCE (RFC 7636)', 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'),
  Text('code_challenge_method', '`S256`', 'S256'),
  EmptyAnswer(302, 'The page that asks, or the application with an error', REDIRECT_HEADERS),
  Errors(unknownClient(), oauthServerDisabled()),
);

const OAUTH_TOKEN_DOCS = together(
  ApiExtraModels(OAuthTokenForm),
  ApiConsumes('application/x-www-form-urlencoded'),
  ApiBody({
    required: true,
    schema: { $ref: getSchemaPath(OAuthTokenForm) },
    examples: { example: { summary: 'Example', value: exampleOf(OAuthTokenForm) } },
  }),
  Errors(invalidGrant(), invalidClient(), mediaTypeNotForm()),
);

@ApiTags('auth')
@documentHandlers(() => ({ docs: GOTRUE_DOCS.limited, errors: [projectNotFound(), tooManyRequests()] }))
@Controller(BASE)
export class GoTrueOAuthController {
  constructor(
    private readonly authorizations: OAuthAuthorizations,
    private readonly clients: OAuthClients,
    private readonly projects: PublicProjects,
  ) {}

  @Get('authorize')
  @UseGuards(ClientThrottlerGuard)
  @PublicRoute('browsers open it; it only leads to the page of the project that asks the user')
  @Describe(`Ask a user for an application (OAuth 2.1)
    For browsers: redirects to \`oauth_consent_url\` with \`authorization_id\`. PKCE with S256 is required. Errors go to \`redirect_uri\`, once it is known to be one of the client.`)
  @OAUTH_AUTHORIZE_DOCS
  async goTrueOAuthAuthorize(
    @Param('project_slug') slug: string,
    @Query() query: Readonly<Record<string, unknown>>,
    @Res() response: Response,
  ): Promise<void> {
    const project = await this.projects.admit(slug, 'GET');
    redirect(response, await this.authorizations.begin(project, authorizeQuery(query)), 302);
  }

  @Post('clients/register')
  @HttpCode(201)
  @UseGuards(ClientThrottlerGuard)
  @UseInterceptors(JsonBodyInterceptor)
  @PublicRoute('applications register themselves where `oauth_registration_enabled` allows it')
  @Describe(`Register an application (RFC 7591)
    Needs the settings \`oauth_server_enabled\` and \`oauth_registration_enabled\`. The secret of a confidential client is shown once. Applications that nobody granted anything make room for later ones.`)
  @Answer(201, 'The application', OAuthClientResponse, LIMIT_HEADERS)
  @Errors(invalidParameters('redirect_uris is required'), registrationDisabled(), oauthServerDisabled())
  @Errors(tooManyClients(MAX_CLIENTS))
  async goTrueRegisterOAuthClient(
    @Param('project_slug') slug: string,
    @Body() body: OAuthClientDto,
  ): Promise<OAuthClientResponse> {
    const project = await this.projects.admit(slug, 'POST');
    const { client, secret } = await this.clients.register(project, toClientInput(body));
    return toClientView(client, secret);
  }
}

@ApiTags('auth')
@documentHandlers(() => ({
  docs: OAUTH_DOCS,
  errors: [projectNotFound(), tooManyRequests(), oauthServerDisabled()],
}))
@Controller(BASE)
export class GoTrueOAuthTokenController {
  constructor(
    private readonly tokens: OAuthTokens,
    private readonly projects: PublicProjects,
    private readonly clock: Clock,
  ) {}

  // GuessThrottle slows down guesses; the server of an application asks from one address for all its users.
  @FormRoute('token', 'the client and its code or refresh token are the credentials')
  @SkipThrottle()
  @Describe(`Get the tokens of an application (OAuth 2.1)
    Takes a form. The client authenticates with HTTP Basic or \`client_secret\`; a public client sends only \`client_id\`. A code works once, for a minute: its second use ends the session that it gave. Access tokens have the claim \`client_id\`.`)
  @Answer(200, 'The tokens', OAuthTokenResponse, NOT_STORED)
  @OAUTH_TOKEN_DOCS
  async goTrueOAuthToken(
    @Param('project_slug') slug: string,
    @FormBody() form: URLSearchParams,
    @CurrentOrigin() origin: RequestOrigin,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<OAuthTokenResponse> {
    response.set('Cache-Control', 'no-store');
    const project = await this.projects.admit(slug, 'POST');
    const proof = proofIn(request.get('authorization'), form);
    return this.toAnswer(await this.answer({ project, origin }, proof, form));
  }

  private answer(from: Sender, proof: ClientProof, form: URLSearchParams): Promise<OAuthTokenAnswer> {
    switch (form.get('grant_type')) {
      case 'authorization_code': {
        const [code, verifier] = [form.get('code') ?? '', form.get('code_verifier') ?? ''];
        const grant = { code, verifier, redirectUri: form.get('redirect_uri') };
        return this.tokens.exchange(from, proof, grant);
      }
      case 'refresh_token':
        return this.tokens.refresh(from, proof, form.get('refresh_token') ?? '');
      default:
        throw oauthFault('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token');
    }
  }

  private toAnswer({ session, scope, idToken, isLast }: OAuthTokenAnswer): OAuthTokenResponse {
    return {
      access_token: session.access_token,
      token_type: 'bearer',
      expires_in: Math.max(0, session.expires_at - this.clock.nowSeconds()),
      ...(isLast ? {} : { refresh_token: session.refresh_token }),
      ...(scope === undefined ? {} : { scope }),
      ...(idToken === undefined ? {} : { id_token: idToken }),
    };
  }
}

@GoTrueApi('token', UserGuard)
@GoTrueController('oauth')
export class GoTrueOAuthUserInfoController {
  constructor(private readonly tokens: OAuthTokens) {}

  @Get('userinfo')
  @Describe(`Get the user of an application (OpenID Connect)
    Needs an access token; the apikey may be left out. The claims are those of its scopes.`)
  @Answer(200, 'Claims of the user', OAuthUserInfoResponse)
  async goTrueOAuthUserInfo(
    @CurrentProject() project: Project,
    @CurrentTokenUser() owner: TokenUser,
  ): Promise<OAuthUserInfoResponse> {
    return this.tokens.userInfo(project, owner) as unknown as Promise<OAuthUserInfoResponse>;
  }
}

/** A parameter that is repeated counts as absent. */
function authorizeQuery(query: Readonly<Record<string, unknown>>): AuthorizeQuery {
  const given = AUTHORIZE_PARAMETERS.map((name) => {
    const value = query[name];
    return [name, typeof value === 'string' && value !== '' ? value : null];
  });
  return Object.fromEntries(given) as AuthorizeQuery;
}

/** Names and secrets in HTTP Basic are encoded like a form (RFC 6749, 2.3.1). @throws AppError 400, 401 */
function proofIn(header: string | undefined, form: URLSearchParams): ClientProof {
  if ([...new Set(form.keys())].length !== [...form.keys()].length)
    throw oauthFault('invalid_request', 'No parameter may be repeated');
  const [id, secret] = [form.get('client_id'), form.get('client_secret')];
  const basic = /^Basic\s+([A-Za-z0-9+/=]+)$/i.exec(header ?? '')?.[1];
  if (basic === undefined)
    return { id: id ?? '', secret, method: secret === null ? 'none' : 'client_secret_post' };
  const [name = '', password = ''] = Buffer.from(basic, 'base64')
    .toString('utf8')
    .split(/:(.*)/s)
    .map(decoded);
  if (secret !== null || (id !== null && id !== name)) throw invalidClient();
  return { id: name, secret: password, method: 'client_secret_basic' };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
