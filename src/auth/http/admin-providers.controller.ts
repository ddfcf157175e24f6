/** Providers with which users sign in, as administrators set them. */
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put } from '@nestjs/common';
import { CurrentProject } from '../../access/current-caller.decorator';
import { invalidParameters } from '../../common/errors/app-error';
import { Answer, Describe, Errors } from '../../http/docs/operation.decorators';
import { CurrentSender } from '../../identity/http/current-origin.decorator';
import { directoryFailed, oidcUnreachable, wrongCredentials } from '../../identity/identity.errors';
import type { Sender } from '../../identity/request-origin';
import { Project } from '../../projects/project';
import { ldapDisabled, providerNotFound, secretNeeded } from '../auth.errors';
import { LdapSignIn } from '../directories/ldap-sign-in.service';
import type { Provider } from '../providers/provider';
import { ProviderClients } from '../providers/provider-clients.service';
import { ProviderSignIn } from '../providers/provider-sign-in.service';
import { ProvidersService } from '../providers/providers.service';
import { AuthApi, tooManyRequests } from './auth-docs.decorator';
import { LdapSignInDto } from './dto/account.dto';
import { MessageAnswer, MessageResponse } from './dto/auth-responses';
import {
  LdapTrialResponse,
  ProviderEnvelopeResponse,
  ProviderResponse,
  ProvidersResponse,
  ProviderTrialResponse,
  SaveProviderDto,
} from './dto/providers.dto';

@AuthApi('service_role')
@Controller('v1/auth/:project_id/admin')
export class AdminProvidersController {
  constructor(
    private readonly providers: ProvidersService,
    private readonly clients: ProviderClients,
    private readonly signIns: ProviderSignIn,
    private readonly ldap: LdapSignIn,
  ) {}

  @Get('providers')
  @Describe(`List the providers with which users sign in
    Needs the service-role key, as apikey or as bearer. Secrets are never returned.`)
  @Answer(200, 'The providers, by name', ProvidersResponse)
  async adminListProviders(@CurrentProject() project: Project): Promise<ProvidersResponse> {
    const providers = await this.providers.list(project);
    return {
      providers: providers.map((provider) => this.view(project, provider)),
      callback_url: this.clients.callbackOf(project),
    };
  }

  @Get('providers/:provider_name')
  @Describe(`Get a provider
    Needs the service-role key, as apikey or as bearer. The secret is never returned.`)
  @Answer(200, 'The provider', ProviderEnvelopeResponse)
  @Errors(providerNotFound())
  async adminGetProvider(
    @CurrentProject() project: Project,
    @Param('provider_name') name: string,
  ): Promise<ProviderEnvelopeResponse> {
    return { provider: this.view(project, await this.providers.get(project, name)) };
  }

  @Put('providers/:provider_name')
  @Describe(`Add or change a provider
    Needs the service-role key, as apikey or as bearer. Omitted members keep their values. Register \`callback_url\` of the answer at the provider. Takes effect with the next sign-in.`)
  @Answer(200, 'The provider', ProviderEnvelopeResponse)
  @Errors(invalidParameters('client_id is required'), secretNeeded())
  async adminSaveProvider(
    @CurrentSender() from: Sender,
    @Param('provider_name') name: string,
    @Body() body: SaveProviderDto,
  ): Promise<ProviderEnvelopeResponse> {
    const { preset, enabled, client_secret: secret, ...settings } = body;
    const input = { preset, enabled, secret: secret ?? undefined, settings };
    const saved = await this.providers.save(from, name, input);
    return { provider: this.view(from.project, saved) };
  }

  @Delete('providers/:provider_name')
  @Describe(`Remove a provider
    Needs the service-role key, as apikey or as bearer. Identities of users stay, and sign in again once there is a provider with the same name and issuer.`)
  @MessageAnswer('The provider has been removed', 'The provider has been removed')
  @Errors(providerNotFound())
  async adminRemoveProvider(
    @CurrentSender() from: Sender,
    @Param('provider_name') name: string,
  ): Promise<MessageResponse> {
    await this.providers.remove(from, name);
    return { message: 'The provider has been removed' };
  }

  @Post('providers/:provider_name/try')
  @HttpCode(200)
  @Describe(`Try a provider
    Needs the service-role key, as apikey or as bearer. Open the address in a browser and sign in: a page shows what the provider says about the account, or why it was refused. Nobody is signed in to the project, and nothing is stored. Works once within ten minutes, for disabled providers too.`)
  @Answer(200, 'The page of the provider', ProviderTrialResponse)
  @Errors(providerNotFound(), oidcUnreachable())
  async adminTryProvider(
    @CurrentProject() project: Project,
    @Param('provider_name') name: string,
  ): Promise<ProviderTrialResponse> {
    return { url: await this.signIns.beginTrial(project, name) };
  }

  @Post('ldap/try')
  @HttpCode(200)
  @Describe(`Try the directory of LDAP
    Needs the service-role key, as apikey or as bearer. Returns the data of the directory about a user with the right password. Nobody is signed in to the project, and nothing is stored. Failed attempts count as those of users do.`)
  @Answer(200, 'The data of the directory about the user', LdapTrialResponse)
  @Errors(invalidParameters('login should not be empty'), wrongCredentials(), ldapDisabled())
  @Errors(directoryFailed(), tooManyRequests())
  async adminTryLdap(
    @CurrentSender() from: Sender,
    @Body() given: LdapSignInDto,
  ): Promise<LdapTrialResponse> {
    const { data, customClaims = {} } = await this.ldap.identityOf(from, given);
    return { claims: { ...data, custom_claims: customClaims } };
  }

  private view(project: Project, provider: Provider): ProviderResponse {
    const { name, preset, enabled, settings, sealedSecret, createdAt, updatedAt } = provider;
    return {
      name,
      preset,
      enabled,
      ...settings,
      has_client_secret: sealedSecret !== null,
      callback_url: this.clients.callbackOf(project),
      created_at: createdAt.toISOString(),
      updated_at: updatedAt.toISOString(),
    };
  }
}
