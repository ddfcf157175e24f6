/** GoTrue's paths with which clients begin a sign-in with SAML, and administrators manage its identity providers. */
import { Body, Delete, Get, HttpCode, Param, Post, Put, Res } from '@nestjs/common';
import type { Response } from 'express';
import { CurrentProject } from '../../../access/current-caller.decorator';
import { invalidParameters } from '../../../common/errors/app-error';
import {
  Answer,
  Describe,
  EmptyAnswer,
  Errors,
  PathErrors,
  together,
} from '../../../http/docs/operation.decorators';
import { LIMIT_HEADERS } from '../../../identity/http/client-throttler.guard';
import { CurrentSender } from '../../../identity/http/current-origin.decorator';
import { samlFailed } from '../../../identity/identity.errors';
import type { Sender } from '../../../identity/request-origin';
import type { Project } from '../../../projects/project';
import {
  metadataUnreachable,
  noRedirect,
  providerNotFound,
  samlProviderTaken,
  ssoProviderNotFound,
} from '../../auth.errors';
import type { SamlProvider } from '../../directories/saml-provider';
import { SamlProviderRepository } from '../../directories/saml-provider.repository';
import { SamlProviders, type SamlProviderInput } from '../../directories/saml-providers.service';
import { SamlSignIn } from '../../directories/saml-sign-in.service';
import {
  GoTrueSsoDto,
  GoTrueSsoProviderDto,
  GoTrueSsoProviderResponse,
  GoTrueSsoProvidersResponse,
  GoTrueSsoUrlResponse,
} from './dto/gotrue-sso.dto';
import { Captcha } from '../captcha.interceptor';
import { GoTrueApi, GoTrueController } from './gotrue-api.decorator';
import { samlDisabled, validationFailed } from './gotrue-errors';
import { flowOf } from './gotrue-mail-types';
import { redirect, REDIRECT_HEADERS } from './gotrue-redirects';

const SSO_DOCS = together(
  EmptyAnswer(
    303,
    'The page of the identity provider, unless `skip_http_redirect` is true',
    REDIRECT_HEADERS,
  ),
  Errors(samlDisabled(), ssoProviderNotFound(), noRedirect(), samlFailed()),
  Errors(validationFailed('A provider_id or domain needs to be provided')),
);

@GoTrueApi('apikey')
@GoTrueController()
export class GoTrueSsoController {
  constructor(
    private readonly signIns: SamlSignIn,
    private readonly rows: SamlProviderRepository,
  ) {}

  @Post('sso')
  @Captcha()
  @HttpCode(200)
  @Describe(`Sign in with SAML (GoTrue)
    Needs the apikey only. Answers with the page of the identity provider of a domain, or of an id. Needs PKCE: the final redirect has a code for \`token?grant_type=pkce\`.`)
  @Answer(200, 'The page of the identity provider', GoTrueSsoUrlResponse, LIMIT_HEADERS)
  @SSO_DOCS
  async goTrueSso(
    @CurrentProject() project: Project,
    @Body() body: GoTrueSsoDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<GoTrueSsoUrlResponse | undefined> {
    const { provider_id: id, domain } = body;
    if (!(await this.rows.isUsed(project))) throw samlDisabled();
    if (!id === !domain) throw validationFailed('A provider_id or domain needs to be provided');
    const { redirectTo, challenge = null } = flowOf(project, body.redirect_to, body);
    const by = id ? { id } : { domain: domain ?? '' };
    const url = await this.signIns.begin(project, { by, redirectTo, challenge });
    if (body.skip_http_redirect === true) return { url };
    redirect(response, url);
    return undefined;
  }
}

@GoTrueApi('service_role')
@PathErrors({ ':sso_provider_id': providerNotFound() })
@GoTrueController('admin/sso/providers')
export class GoTrueSsoAdminController {
  constructor(
    private readonly providers: SamlProviders,
    private readonly signIns: SamlSignIn,
  ) {}

  @Get()
  @Describe(`List the SAML identity providers (GoTrue)
    Needs the service-role key.`)
  @Answer(200, 'The identity providers, the oldest first', GoTrueSsoProvidersResponse)
  async goTrueListSsoProviders(@CurrentProject() project: Project): Promise<GoTrueSsoProvidersResponse> {
    return { items: (await this.providers.list(project)).map(toView) };
  }

  @Post()
  @HttpCode(201)
  @Describe(`Add an identity provider of SAML (GoTrue)
    Needs the service-role key. Give the metadata as XML or as an address, which is read now and then once a day. Register \`sso/saml/metadata\` of the project at the identity provider.`)
  @Answer(201, 'The identity provider', GoTrueSsoProviderResponse)
  @Errors(invalidParameters('The metadata cannot be used'), metadataUnreachable(), samlProviderTaken())
  async goTrueCreateSsoProvider(
    @CurrentSender() from: Sender,
    @Body() body: GoTrueSsoProviderDto,
  ): Promise<GoTrueSsoProviderResponse> {
    if (body.type !== 'saml') throw validationFailed('Only "saml" is supported as a type of SSO provider');
    return toView(await this.providers.save(from, null, toInput(body)));
  }

  @Get(':sso_provider_id')
  @Describe(`Get an identity provider of SAML (GoTrue)
    Needs the service-role key.`)
  @Answer(200, 'The identity provider', GoTrueSsoProviderResponse)
  async goTrueGetSsoProvider(
    @CurrentProject() project: Project,
    @Param('sso_provider_id') id: string,
  ): Promise<GoTrueSsoProviderResponse> {
    return toView(await this.providers.get(project, id));
  }

  @Put(':sso_provider_id')
  @Describe(`Change an identity provider of SAML (GoTrue)
    Needs the service-role key. Omitted members keep their values. Takes effect with the next sign-in.`)
  @Answer(200, 'The identity provider', GoTrueSsoProviderResponse)
  @Errors(invalidParameters('The metadata cannot be used'), metadataUnreachable(), samlProviderTaken())
  async goTrueUpdateSsoProvider(
    @CurrentSender() from: Sender,
    @Param('sso_provider_id') id: string,
    @Body() body: GoTrueSsoProviderDto,
  ): Promise<GoTrueSsoProviderResponse> {
    return toView(await this.providers.save(from, id, toInput(body)));
  }

  @Delete(':sso_provider_id')
  @Describe(`Remove an identity provider of SAML (GoTrue)
    Needs the service-role key. Users and their identities stay, and cannot sign in here any more.`)
  @Answer(200, 'The removed identity provider', GoTrueSsoProviderResponse)
  async goTrueDeleteSsoProvider(
    @CurrentSender() from: Sender,
    @Param('sso_provider_id') id: string,
  ): Promise<GoTrueSsoProviderResponse> {
    return toView(await this.providers.remove(from, id));
  }

  @Post(':sso_provider_id/try')
  @HttpCode(200)
  @Describe(`Try an identity provider of SAML
    Needs the service-role key. Open the address in a browser and sign in: a page shows what the provider says about the account, or why it was refused. Nobody is signed in to the project, and no account is made. Works once within ten minutes, for disabled providers too.`)
  @Answer(200, 'The page of the identity provider', GoTrueSsoUrlResponse)
  async goTrueTrySsoProvider(
    @CurrentProject() project: Project,
    @Param('sso_provider_id') id: string,
  ): Promise<GoTrueSsoUrlResponse> {
    return { url: await this.signIns.beginTrial(project, id) };
  }
}

const toInput = (body: GoTrueSsoProviderDto): SamlProviderInput => ({
  resourceId: body.resource_id,
  disabled: body.disabled ?? undefined,
  metadataUrl: body.metadata_url ?? undefined,
  metadataXml: body.metadata_xml ?? undefined,
  domains: body.domains ?? undefined,
  mapping: body.attribute_mapping ?? undefined,
  nameIdFormat: body.name_id_format,
});

const toView = (provider: SamlProvider): GoTrueSsoProviderResponse => ({
  id: provider.id,
  resource_id: provider.resourceId,
  disabled: !provider.enabled,
  domains: provider.domains.map((domain) => ({ domain })),
  saml: {
    entity_id: provider.entityId,
    metadata_xml: provider.metadataXml,
    metadata_url: provider.metadataUrl,
    name_id_format: provider.nameIdFormat,
    attribute_mapping: provider.mapping,
  },
  created_at: provider.createdAt.toISOString(),
  updated_at: provider.updatedAt.toISOString(),
});
