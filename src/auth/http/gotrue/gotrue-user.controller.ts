/** GoTrue's paths for a signed-in user. */
import { Body, Delete, Get, HttpCode, Param, Post, Put, Query, UseGuards } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import { CurrentProject } from '../../../access/current-caller.decorator';
import { SessionGuard } from '../../../access/session.guard';
import { UserGuard } from '../../../access/user.guard';
import { UUID } from '../../../common/text/uuid';
import { invalidParameters } from '../../../common/errors/app-error';
import { Answer, Describe, Errors } from '../../../http/docs/operation.decorators';
import { CurrentSender } from '../../../identity/http/current-origin.decorator';
import { invalidEmail, oidcUnreachable } from '../../../identity/identity.errors';
import { tooShortPassword } from '../../../identity/passwords/password-policy';
import type { Sender } from '../../../identity/request-origin';
import { Project } from '../../../projects/project';
import type { SessionOwner } from '../../accounts/account-statements';
import {
  addressNeeded,
  domainNotAllowed,
  emailTaken,
  identityNotFound,
  lastIdentity,
  linkingDisabled,
  noRedirect,
  providerNotEnabled,
  reauthenticationNeeded,
  phoneDisabled,
  secondFactorRequired,
  wrongCurrentPassword,
  wrongReauthentication,
} from '../../auth.errors';
import { ReauthenticationService } from '../../codes/reauthentication.service';
import { IdentitiesService } from '../../providers/identities.service';
import { ProviderSignIn } from '../../providers/provider-sign-in.service';
import { hookFailed, hookRefused } from '../../hooks/hook.errors';
import { PhoneSignIn } from '../../phones/phone-sign-in.service';
import { ProfileService } from '../../sessions/profile.service';
import { SessionService } from '../../sessions/session.service';
import { tooManyRequests } from '../auth-docs.decorator';
import { CurrentSession, CurrentTokenUser, type TokenUser } from '../current-session.decorator';
import { GoTrueUrlResponse, GoTrueUserResponse, EmptyResponse } from './dto/gotrue-responses';
import { GoTrueUpdateUserDto, LinkIdentityQuery, LogoutQuery, RedirectQuery } from './dto/gotrue-inputs.dto';
import { GoTrueApi, GoTrueController } from './gotrue-api.decorator';
import { validationFailed } from './gotrue-errors';
import { providerRequest } from './gotrue-provider-requests';
import { flowOf, phoneOf } from './gotrue-mail-types';
import { GoTrueAnswers } from './gotrue-answers.service';

const NO_ADDRESS = 'Reauthentication requires the user to have an email or a phone number';

@GoTrueApi('bearer')
@GoTrueController()
export class GoTrueUserController {
  constructor(
    private readonly profiles: ProfileService,
    private readonly sessions: SessionService,
    private readonly reauthentication: ReauthenticationService,
    private readonly providers: ProviderSignIn,
    private readonly identities: IdentitiesService,
    private readonly phones: PhoneSignIn,
    private readonly answers: GoTrueAnswers,
  ) {}

  @Get('user')
  @UseGuards(UserGuard)
  @Describe(`Get the signed-in user (GoTrue)
    Needs the apikey and a user's access token.`)
  @Answer(200, 'The user', GoTrueUserResponse)
  async goTrueGetUser(
    @CurrentProject() project: Project,
    @CurrentTokenUser() owner: TokenUser,
  ): Promise<GoTrueUserResponse> {
    return this.answers.liveUserOf(project, owner);
  }

  @Put('user')
  @UseGuards(SessionGuard)
  @Describe(`Change your email, password or data (GoTrue)
    Needs the apikey and the access token of a session. A new \`email\` takes effect when its mail is confirmed, a new \`phone\` with \`verify\` and the code of its message; an anonymous user gets it at once unless the project requires verified addresses. A new \`password\` ends all other sessions; with \`reauthentication_required\` a session older than a day needs a \`nonce\`.`)
  @Answer(200, 'The updated user', GoTrueUserResponse)
  @Errors(invalidEmail(), emailTaken(), domainNotAllowed(), tooShortPassword(), secondFactorRequired())
  @Errors(reauthenticationNeeded(), wrongReauthentication(), wrongCurrentPassword(), phoneDisabled())
  @Errors(hookRefused(403, 'Not this phone'), hookFailed('send_sms_hook', null))
  @Errors(addressNeeded(), tooManyRequests(), invalidParameters('email must be a string'))
  async goTrueUpdateUser(
    @CurrentSender() from: Sender,
    @CurrentSession() owner: SessionOwner,
    @Body() body: GoTrueUpdateUserDto,
    @Query() { redirect_to: redirectTo }: RedirectQuery,
  ): Promise<GoTrueUserResponse> {
    const { email, phone, password, nonce, data } = body;
    if (phone !== undefined) await this.phones.requestChange(from, owner, phoneOf(phone));
    const change = {
      email: email ?? undefined,
      password: password ?? undefined,
      currentPassword: body.current_password ?? undefined,
      data: data ?? undefined,
      merges: true,
    };
    const flow = flowOf(from.project, redirectTo, body);
    const prove = (): Promise<void> => this.reauthentication.assertProved(from, owner, nonce ?? undefined);
    const proof = change.password === undefined ? undefined : prove;
    const { id } = await this.profiles.updateProfile(from, owner, { ...change, proof }, flow);
    return this.answers.userOf(from.project, id);
  }

  @Post('logout')
  @HttpCode(204)
  @UseGuards(SessionGuard)
  @Describe(`Sign out (GoTrue)
    Needs the apikey and the access token of a session. The access tokens of an ended session are refused from the next request on.`)
  @ApiResponse({ status: 204, description: 'The sessions in the scope have ended' })
  @Errors(invalidParameters('scope must be one of the following values: local, others, global'))
  async goTrueSignOut(
    @CurrentSender() from: Sender,
    @CurrentSession() owner: SessionOwner,
    @Query() { scope }: LogoutQuery,
  ): Promise<void> {
    await this.sessions.signOut(from, owner, scope ?? 'global');
  }

  @Get('reauthenticate')
  @UseGuards(SessionGuard)
  @Describe(`Mail a code for a change of your password (GoTrue)
    Needs the apikey and the access token of a session. \`PUT user\` takes the code as \`nonce\`.`)
  @Answer(200, 'The code is on its way', EmptyResponse)
  @Errors(validationFailed(NO_ADDRESS, 422), tooManyRequests())
  async goTrueReauthenticate(
    @CurrentSender() from: Sender,
    @CurrentSession() owner: SessionOwner,
  ): Promise<EmptyResponse> {
    const account = await this.profiles.get(from.project, owner.userId, owner.sessionId);
    if (account.isAnonymous) throw validationFailed(NO_ADDRESS, 422);
    await this.reauthentication.request(from, account);
    return {};
  }

  @Get('user/identities/authorize')
  @UseGuards(SessionGuard)
  @Describe(`Link an identity of a provider (GoTrue)
    Needs the apikey, the access token of a session, and the setting \`manual_linking_enabled\`. With \`code_challenge\` the exchange of the code links the identity; without, a page asks the user first.`)
  @Answer(200, 'The page of the provider', GoTrueUrlResponse)
  @Errors(linkingDisabled(), providerNotEnabled(), noRedirect(), secondFactorRequired(), oidcUnreachable())
  @Errors(reauthenticationNeeded())
  async goTrueLinkIdentity(
    @CurrentProject() project: Project,
    @CurrentSession() owner: SessionOwner,
    @Query() query: LinkIdentityQuery,
  ): Promise<GoTrueUrlResponse> {
    const { redirectTo, challenge = null } = flowOf(project, query.redirect_to, query);
    const given = { ...providerRequest({ ...query }), redirectTo, challenge, browser: null, owner };
    return { url: await this.providers.begin(project, given) };
  }

  @Delete('user/identities/:identity_id')
  @UseGuards(SessionGuard)
  @Describe(`Unlink an identity (GoTrue)
    Needs the setting \`manual_linking_enabled\`. The last identity of a user cannot be unlinked. Without its identity \`email\`, an account has no password.`)
  @Answer(200, 'The identity has been unlinked', EmptyResponse)
  @Errors(linkingDisabled(), lastIdentity(), identityNotFound(), secondFactorRequired())
  @Errors(reauthenticationNeeded())
  async goTrueUnlinkIdentity(
    @CurrentSender() from: Sender,
    @CurrentSession() owner: SessionOwner,
    @Param('identity_id') id: string,
  ): Promise<EmptyResponse> {
    if (!UUID.test(id)) throw identityNotFound();
    await this.identities.unlink(from, owner, id);
    return {};
  }
}
