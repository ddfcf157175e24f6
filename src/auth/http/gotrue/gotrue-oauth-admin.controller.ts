/** GoTrue's paths with which administrators manage applications that sign in with accounts of the project. */
import { Body, Delete, Get, HttpCode, Param, Post, Put, Query, Res } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import type { Response } from 'express';
import { CurrentProject } from '../../../access/current-caller.decorator';
import { invalidParameters } from '../../../common/errors/app-error';
import { Answer, Describe, Errors, PathErrors, SharedErrors } from '../../../http/docs/operation.decorators';
import { CurrentSender } from '../../../identity/http/current-origin.decorator';
import type { Sender } from '../../../identity/request-origin';
import type { Project } from '../../../projects/project';
import { MAX_CLIENTS } from '../../oauth/oauth-client.repository';
import { OAuthClients } from '../../oauth/oauth-clients.service';
import { clientNotFound, oauthServerDisabled, tooManyClients } from '../../oauth/oauth.errors';
import { pageOf } from '../dto/admin-users.dto';
import { GoTruePageQuery } from './dto/gotrue-inputs.dto';
import {
  OAuthClientDto,
  OAuthClientResponse,
  OAuthClientsResponse,
  OAuthClientUpdateDto,
} from './dto/gotrue-oauth.dto';
import { GoTrueApi, GoTrueController } from './gotrue-api.decorator';
import { toClientInput, toClientView } from './gotrue-oauth-views';
import { PAGE_HEADERS, pageHeaders } from './gotrue-pages';

@GoTrueApi('service_role')
@PathErrors({ ':client_id': clientNotFound() })
@SharedErrors(oauthServerDisabled())
@GoTrueController('admin/oauth/clients')
export class GoTrueOAuthAdminController {
  constructor(private readonly clients: OAuthClients) {}

  @Get()
  @Describe(`List applications (GoTrue)
    Needs the service-role key and the setting \`oauth_server_enabled\`. The newest first. Secrets are never returned.`)
  @Answer(200, 'A page of applications', OAuthClientsResponse, PAGE_HEADERS)
  async goTrueListOAuthClients(
    @CurrentProject() project: Project,
    @Query() query: GoTruePageQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<OAuthClientsResponse> {
    const page = pageOf(query);
    const { total, clients } = await this.clients.list(project, page);
    response.set(pageHeaders('admin/oauth/clients', total, page));
    return { clients: clients.map((client) => toClientView(client)) };
  }

  @Post()
  @HttpCode(201)
  @Describe(`Create an application (GoTrue)
    Needs the service-role key and the setting \`oauth_server_enabled\`. The secret of a confidential client is shown once.`)
  @Answer(201, 'The application', OAuthClientResponse)
  @Errors(invalidParameters('redirect_uris is required'), tooManyClients(MAX_CLIENTS))
  async goTrueCreateOAuthClient(
    @CurrentSender() from: Sender,
    @Body() body: OAuthClientDto,
  ): Promise<OAuthClientResponse> {
    const { client, secret } = await this.clients.create(from, toClientInput(body));
    return toClientView(client, secret);
  }

  @Get(':client_id')
  @Describe(`Get an application (GoTrue)
    Needs the service-role key.`)
  @Answer(200, 'The application', OAuthClientResponse)
  async goTrueGetOAuthClient(
    @CurrentProject() project: Project,
    @Param('client_id') id: string,
  ): Promise<OAuthClientResponse> {
    return toClientView(await this.clients.get(project, id));
  }

  @Put(':client_id')
  @Describe(`Change an application (GoTrue)
    Needs the service-role key. Omitted members keep their values. A client stays public or confidential.`)
  @Answer(200, 'The application', OAuthClientResponse)
  @Errors(invalidParameters('redirect_uris is required'))
  async goTrueUpdateOAuthClient(
    @CurrentSender() from: Sender,
    @Param('client_id') id: string,
    @Body() body: OAuthClientUpdateDto,
  ): Promise<OAuthClientResponse> {
    return toClientView(await this.clients.updateClient(from, id, toClientInput(body)));
  }

  @Delete(':client_id')
  @Describe(`Remove an application (GoTrue)
    Needs the service-role key. Ends its sessions and codes, and what users granted it.`)
  @HttpCode(204)
  @ApiResponse({ status: 204, description: 'The application has been removed' })
  async goTrueDeleteOAuthClient(
    @CurrentSender() from: Sender,
    @Param('client_id') id: string,
  ): Promise<void> {
    await this.clients.remove(from, id);
  }

  @Post(':client_id/regenerate_secret')
  @Describe(`Replace the secret of an application (GoTrue)
    Needs the service-role key. The former secret ends at once; sessions of users stay.`)
  @Answer(200, 'The application with its new secret', OAuthClientResponse)
  @Errors(invalidParameters('A public client has no secret'))
  async goTrueRegenerateOAuthClientSecret(
    @CurrentSender() from: Sender,
    @Param('client_id') id: string,
  ): Promise<OAuthClientResponse> {
    const { client, secret } = await this.clients.regenerateSecret(from, id);
    return toClientView(client, secret);
  }
}
