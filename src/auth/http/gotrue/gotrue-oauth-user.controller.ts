/** GoTrue's paths with which a signed-in user answers applications, and sees and revokes what they granted. */
import { Body, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import { CurrentProject } from '../../../access/current-caller.decorator';
import { SessionGuard } from '../../../access/session.guard';
import { Answer, Describe, Errors, PathErrors, SharedErrors } from '../../../http/docs/operation.decorators';
import { CurrentSender } from '../../../identity/http/current-origin.decorator';
import type { Sender } from '../../../identity/request-origin';
import type { Project } from '../../../projects/project';
import type { SessionOwner } from '../../accounts/account-statements';
import { secondFactorRequired } from '../../auth.errors';
import { OAuthAuthorizations } from '../../oauth/oauth-authorization.service';
import { authorizationNotFound, grantNotFound, oauthServerDisabled } from '../../oauth/oauth.errors';
import { CurrentSession } from '../current-session.decorator';
import {
  OAuthConsentDto,
  OAuthDetailsResponse,
  OAuthGrantQuery,
  OAuthGrantResponse,
  OAuthRedirectResponse,
} from './dto/gotrue-oauth.dto';
import { GoTrueApi, GoTrueController } from './gotrue-api.decorator';
import { toRequestingClient } from './gotrue-oauth-views';

@GoTrueApi('bearer', SessionGuard)
@PathErrors({ ':authorization_id': authorizationNotFound() })
@SharedErrors(oauthServerDisabled())
@GoTrueController()
export class GoTrueOAuthUserController {
  constructor(private readonly authorizations: OAuthAuthorizations) {}

  @Get('oauth/authorizations/:authorization_id')
  @Describe(`Get what an application asks for (GoTrue)
    Needs the apikey and the access token of a session. For the page of \`oauth_consent_url\`, which asks the user. From then on this user alone can answer. Gives \`redirect_url\` alone if the user agreed to the same before.`)
  @Answer(200, 'The application and its scopes, or where to lead the user', OAuthDetailsResponse)
  async goTrueGetOAuthAuthorization(
    @CurrentSender() from: Sender,
    @CurrentSession() owner: SessionOwner,
    @Param('authorization_id') id: string,
  ): Promise<OAuthDetailsResponse> {
    const details = await this.authorizations.details(from, owner, id);
    if ('redirectTo' in details) return { redirect_url: details.redirectTo };
    return {
      authorization_id: id,
      redirect_uri: details.redirectUri,
      client: toRequestingClient(details.client),
      user: { id: owner.userId, email: details.email },
      scope: details.scope,
    };
  }

  @Post('oauth/authorizations/:authorization_id/consent')
  @HttpCode(200)
  @Describe(`Approve or refuse what an application asks for (GoTrue)
    Needs the apikey and the access token of a session, which must have verified a second factor if the account has one. Gives the address of the application, with a code, or with \`error=access_denied\`.`)
  @Answer(200, 'Where to lead the user', OAuthRedirectResponse)
  @Errors(secondFactorRequired())
  async goTrueAnswerOAuthAuthorization(
    @CurrentSender() from: Sender,
    @CurrentSession() owner: SessionOwner,
    @Param('authorization_id') id: string,
    @Body() { action }: OAuthConsentDto,
  ): Promise<OAuthRedirectResponse> {
    const url =
      action === 'approve'
        ? await this.authorizations.approve(from, owner, id)
        : await this.authorizations.deny(from.project, owner, id);
    return { redirect_url: url };
  }

  @Get('user/oauth/grants')
  @Describe(`List what you granted to applications (GoTrue)
    Needs the apikey and the access token of a session.`)
  @Answer(200, 'The grants, the newest first', [OAuthGrantResponse])
  async goTrueListOAuthGrants(
    @CurrentProject() project: Project,
    @CurrentSession() owner: SessionOwner,
  ): Promise<OAuthGrantResponse[]> {
    const grants = await this.authorizations.grants(project, owner);
    return grants.map(({ client, scope, grantedAt }) => ({
      client: toRequestingClient(client),
      scopes: scope.split(' '),
      granted_at: grantedAt.toISOString(),
    }));
  }

  @Delete('user/oauth/grants')
  @Describe(`Revoke what you granted to an application (GoTrue)
    Needs the apikey and the access token of a session. Ends the sessions that the application has of you.`)
  @HttpCode(204)
  @ApiResponse({ status: 204, description: 'The grant has been revoked' })
  @Errors(grantNotFound())
  async goTrueRevokeOAuthGrant(
    @CurrentSender() from: Sender,
    @CurrentSession() owner: SessionOwner,
    @Query() { client_id: clientId }: OAuthGrantQuery,
  ): Promise<void> {
    await this.authorizations.revoke(from, owner, clientId);
  }
}
