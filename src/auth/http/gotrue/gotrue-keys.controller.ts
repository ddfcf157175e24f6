/** What GoTrue tells everybody: the public keys of a project, with which anyone verifies its users' tokens, and a probe. */
import { Controller, Get, Inject, Param, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { PublicRoute } from '../../../access/public-route.decorator';
import { Clock } from '../../../common/time/clock';
import { SERVER_CONFIG, ServerConfig } from '../../../config/app-config';
import { documentHandlers } from '../../../http/docs/controller-docs';
import { type DocumentedHeaders, TEXT } from '../../../http/docs/documented-headers';
import { Answer, Describe, Errors } from '../../../http/docs/operation.decorators';
import { discoveryIssuerOf } from '../../../projects/issuer';
import { isSecretValid, Project } from '../../../projects/project';
import { ProjectRegistry } from '../../../projects/project-registry.service';
import { projectNotFound } from '../../../projects/projects.errors';
import { toPublicJwk } from '../../../projects/signing-keys';
import { AUTH_METHODS, GRANT_TYPES, scopesOf } from '../../oauth/oauth-client';
import { oauthServerDisabled } from '../../oauth/oauth.errors';
import { tooManyHeaders } from '../../../http/request-head';
import { GoTrueHealthResponse } from './dto/gotrue-responses';
import { KeySetResponse, OpenIdConfigurationResponse } from './dto/key-set-responses';
import { GOTRUE_BASE, GOTRUE_DOCS } from './gotrue-api.decorator';

/** A rotation is safe once caches have read the next key. */
const CACHE_CONTROL = 'public, max-age=600';

const CACHED: DocumentedHeaders = {
  'Cache-Control': { description: `\`${CACHE_CONTROL}\``, schema: TEXT },
};

const KeysDocs = documentHandlers(() => ({ docs: GOTRUE_DOCS.plain, errors: [projectNotFound()] }));

@ApiTags('auth')
@KeysDocs
@Controller(`${GOTRUE_BASE}/.well-known`)
export class GoTrueKeysController {
  constructor(
    private readonly projects: ProjectRegistry,
    private readonly clock: Clock,
    @Inject(SERVER_CONFIG) private readonly server: ServerConfig,
  ) {}

  @Get('jwks.json')
  @PublicRoute('the keys are public, and a verifier of tokens has no credential')
  @Describe(`Get the key set (GoTrue)
    The public keys that verify access tokens of the project's users (RFC 7517): the current one, the next one, which signs after a rotation, and previous ones until they expire. Empty where "jwt_algorithm" is HS256. Valid for ten minutes.`)
  @Answer(200, 'The keys', KeySetResponse, CACHED)
  async getKeySet(
    @Param('project_slug') slug: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<KeySetResponse> {
    const { signingKeys } = await this.get(slug);
    response.setHeader('Cache-Control', CACHE_CONTROL);
    const now = this.clock.now();
    const valid = signingKeys.filter((key) => isSecretValid(key, now));
    return { keys: valid.map((key) => toPublicJwk(key) as unknown as KeySetResponse['keys'][number]) };
  }

  @Get('openid-configuration')
  @PublicRoute('addresses and names only')
  @Describe(`Get the issuer's configuration (GoTrue)
    The issuer that access tokens name, and its addresses (OpenID Connect Discovery). With \`oauth_server_enabled\`, the project is a provider for other applications.`)
  @Answer(200, 'The configuration', OpenIdConfigurationResponse, CACHED)
  async getOpenIdConfiguration(
    @Param('project_slug') slug: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<OpenIdConfigurationResponse> {
    const project = await this.get(slug);
    response.setHeader('Cache-Control', CACHE_CONTROL);
    return issuerMetadata(discoveryIssuerOf(this.server.publicUrl, project.slug), project);
  }

  @Get('oauth-authorization-server')
  @PublicRoute('addresses and names only')
  @Describe(`Get the configuration for applications (RFC 8414)
    Where applications ask users and get tokens. Needs the setting \`oauth_server_enabled\`. The same is at \`/.well-known/oauth-authorization-server/p/<slug>/auth/v1\`.`)
  @Answer(200, 'The configuration', OpenIdConfigurationResponse, CACHED)
  @Errors(oauthServerDisabled())
  async getOAuthServer(
    @Param('project_slug') slug: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<OpenIdConfigurationResponse> {
    const project = await this.get(slug);
    if (!project.settings.oauth_server_enabled) throw oauthServerDisabled();
    return this.getOpenIdConfiguration(slug, response);
  }

  private async get(slug: string): Promise<Project> {
    const project = await this.projects.findBySlug(slug);
    if (!project) throw projectNotFound();
    return project;
  }
}

const GoTrueDocs = documentHandlers(() => ({ docs: GOTRUE_DOCS.plain, errors: [tooManyHeaders()] }));

@ApiTags('auth')
@GoTrueDocs
@Controller(GOTRUE_BASE)
export class GoTruePublicController {
  @Get('health')
  @PublicRoute('a probe; the answer is the same for every project')
  @Describe(`Probe (GoTrue)
    Says that this surface is served; the answer is the same for every project.`)
  @Answer(200, 'The name of the surface', GoTrueHealthResponse)
  goTrueHealth(): GoTrueHealthResponse {
    return { version: 'v2', name: 'GoTrue', description: 'The surface of GoTrue, served by Plinth' };
  }
}

/** OpenID Connect Discovery, 3, and RFC 8414, 2. */
function issuerMetadata(issuer: string, project: Project): OpenIdConfigurationResponse {
  const { settings } = project;
  const { oauth_server_enabled: isProvider, oauth_registration_enabled: mayRegister } = settings;
  const common = {
    issuer,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [settings.jwt_algorithm],
  };
  if (!isProvider)
    return { ...common, token_endpoint: `${issuer}/token`, userinfo_endpoint: `${issuer}/user` };
  return {
    ...common,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    userinfo_endpoint: `${issuer}/oauth/userinfo`,
    ...(mayRegister ? { registration_endpoint: `${issuer}/oauth/clients/register` } : {}),
    scopes_supported: scopesOf(project),
    response_modes_supported: ['query'],
    grant_types_supported: [...GRANT_TYPES],
    token_endpoint_auth_methods_supported: [...AUTH_METHODS],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  };
}
