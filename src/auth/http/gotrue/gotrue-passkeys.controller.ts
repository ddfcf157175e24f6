/** GoTrue's paths of passkeys. */
import { Body, Delete, Get, Headers, HttpCode, Param, Patch, Post } from '@nestjs/common';
import { SkipThrottle } from '@nestjs/throttler';
import { CurrentProject } from '../../../access/current-caller.decorator';
import { SessionGuard } from '../../../access/session.guard';
import { Answer, Describe, Errors, JsonBody, PathErrors } from '../../../http/docs/operation.decorators';
import { LIMIT_HEADERS } from '../../../identity/http/client-throttler.guard';
import { CurrentSender } from '../../../identity/http/current-origin.decorator';
import { passkeyFailed } from '../../../identity/identity.errors';
import type { Sender } from '../../../identity/request-origin';
import type { Project } from '../../../projects/project';
import type { SessionOwner } from '../../accounts/account-statements';
import { AdminUsersService } from '../../admin/admin-users.service';
import {
  emailNotVerified,
  passkeyChallengeNotFound,
  passkeyNotFound,
  passkeysDisabled,
  reauthenticationNeeded,
  secondFactorRequired,
  tooManyPasskeys,
  userBanned,
  userNotFound,
} from '../../auth.errors';
import { MAX_PASSKEYS, type Passkey } from '../../passkeys/passkey.repository';
import { type IssuedChallenge, UserPasskeys } from '../../passkeys/user-passkeys.service';
import { ProfileService } from '../../sessions/profile.service';
import { tooManyRequests } from '../auth-docs.decorator';
import { Captcha } from '../captcha.interceptor';
import { CurrentSession } from '../current-session.decorator';
import {
  GoTruePasskeyChallengeResponse,
  GoTruePasskeyDto,
  GoTruePasskeyNameDto,
  GoTruePasskeyOptionsDto,
  GoTruePasskeyResponse,
} from './dto/gotrue-passkeys.dto';
import { EmptyResponse, GoTrueSessionResponse } from './dto/gotrue-responses';
import { GoTrueApi, GoTrueController } from './gotrue-api.decorator';
import { anonymousFactor } from './gotrue-errors';
import { GoTrueAnswers } from './gotrue-answers.service';

const SIGN_IN_WITH_PASSKEY_ERRORS = Errors(
  passkeysDisabled(),
  passkeyChallengeNotFound(),
  passkeyFailed(),
  userBanned(),
  emailNotVerified(),
  tooManyRequests(),
);

@GoTrueApi('apikey')
@GoTrueController('passkeys/authentication')
export class GoTruePasskeySignInController {
  constructor(
    private readonly passkeys: UserPasskeys,
    private readonly answers: GoTrueAnswers,
  ) {}

  @Post('options')
  @Captcha()
  @HttpCode(200)
  @Describe(`Begin a sign-in with a passkey (GoTrue)
    Needs the apikey only, and the setting \`passkeys_enabled\`. The options name no passkeys, so they reveal nothing about accounts.`)
  @JsonBody(GoTruePasskeyOptionsDto, { required: false })
  @Answer(200, 'The options for the browser', GoTruePasskeyChallengeResponse, LIMIT_HEADERS)
  @Errors(passkeysDisabled())
  goTrueBeginPasskeySignIn(
    @CurrentProject() project: Project,
    @Headers('origin') site: string | undefined,
  ): GoTruePasskeyChallengeResponse {
    return toView(this.passkeys.begin(project, site));
  }

  @Post('verify')
  @HttpCode(200)
  @SkipThrottle()
  @Describe(`Sign in with a passkey (GoTrue)
    Needs the apikey only. The authenticator must have verified its user. Each challenge works once, for five minutes.`)
  @Answer(200, 'A session', GoTrueSessionResponse)
  @SIGN_IN_WITH_PASSKEY_ERRORS
  async goTrueSignInWithPasskey(
    @CurrentSender() from: Sender,
    @Body() { challenge_id: challengeId, credential }: GoTruePasskeyDto,
  ): Promise<GoTrueSessionResponse> {
    const signedIn = await this.passkeys.signIn(from, { challengeId, credential });
    return this.answers.sessionOf(from.project, signedIn);
  }
}

@GoTrueApi('bearer', SessionGuard)
@PathErrors({ ':passkey_id': passkeyNotFound() })
@GoTrueController('passkeys')
export class GoTruePasskeysController {
  constructor(
    private readonly passkeys: UserPasskeys,
    private readonly profiles: ProfileService,
  ) {}

  @Get()
  @Describe(`List your passkeys (GoTrue)
    Needs the apikey and the access token of a session.`)
  @Answer(200, 'The passkeys, oldest first', [GoTruePasskeyResponse])
  async goTrueListPasskeys(
    @CurrentProject() project: Project,
    @CurrentSession() owner: SessionOwner,
  ): Promise<GoTruePasskeyResponse[]> {
    const { id } = await this.profiles.get(project, owner.userId, owner.sessionId);
    return (await this.passkeys.list(project, id)).map(toPasskey);
  }

  @Post('registration/options')
  @HttpCode(200)
  @Describe(`Begin the enrolment of a passkey (GoTrue)
    Needs the apikey and the access token of a session, which must have verified a second factor if the account has one.`)
  @JsonBody(GoTruePasskeyOptionsDto, { required: false })
  @Answer(200, 'The options for the browser', GoTruePasskeyChallengeResponse)
  @Errors(passkeysDisabled(), anonymousFactor(), tooManyPasskeys(MAX_PASSKEYS), secondFactorRequired())
  @Errors(reauthenticationNeeded())
  async goTrueBeginPasskeyEnrolment(
    @CurrentProject() project: Project,
    @CurrentSession() owner: SessionOwner,
    @Headers('origin') site: string | undefined,
  ): Promise<GoTruePasskeyChallengeResponse> {
    const account = await this.profiles.get(project, owner.userId, owner.sessionId);
    if (account.isAnonymous) throw anonymousFactor();
    return toView(await this.passkeys.beginEnrolment(project, owner, site));
  }

  @Post('registration/verify')
  @HttpCode(200)
  @Describe(`Enrol a passkey (GoTrue)
    Needs the apikey and the access token of the session that began. Each challenge works once, for five minutes.`)
  @Answer(200, 'The passkey', GoTruePasskeyResponse)
  @Errors(passkeysDisabled(), passkeyChallengeNotFound(), passkeyFailed(), secondFactorRequired())
  @Errors(reauthenticationNeeded())
  async goTrueEnrolPasskey(
    @CurrentSender() from: Sender,
    @CurrentSession() owner: SessionOwner,
    @Body() { challenge_id: challengeId, credential }: GoTruePasskeyDto,
  ): Promise<GoTruePasskeyResponse> {
    return toPasskey(await this.passkeys.enrol(from, owner, { challengeId, credential }));
  }

  @Patch(':passkey_id')
  @Describe(`Rename a passkey (GoTrue)
    Needs the apikey and the access token of a session.`)
  @Answer(200, 'The passkey', GoTruePasskeyResponse)
  async goTrueRenamePasskey(
    @CurrentProject() project: Project,
    @CurrentSession() owner: SessionOwner,
    @Param('passkey_id') id: string,
    @Body() { friendly_name: name }: GoTruePasskeyNameDto,
  ): Promise<GoTruePasskeyResponse> {
    await this.profiles.get(project, owner.userId, owner.sessionId);
    return toPasskey(await this.passkeys.rename(project, owner.userId, id, name));
  }

  @Delete(':passkey_id')
  @Describe(`Remove a passkey (GoTrue)
    Needs the apikey and the access token of a session, which must have verified a second factor if the account has one.`)
  @Answer(200, 'The passkey has been removed', EmptyResponse)
  @Errors(secondFactorRequired())
  async goTrueRemovePasskey(
    @CurrentSender() from: Sender,
    @CurrentSession() owner: SessionOwner,
    @Param('passkey_id') id: string,
  ): Promise<EmptyResponse> {
    await this.profiles.get(from.project, owner.userId, owner.sessionId);
    await this.passkeys.remove(from, owner, id);
    return {};
  }
}

@GoTrueApi('service_role')
@GoTrueController('admin/users/:user_id/passkeys')
export class GoTruePasskeysAdminController {
  constructor(
    private readonly passkeys: UserPasskeys,
    private readonly users: AdminUsersService,
  ) {}

  @Get()
  @Describe(`List a user's passkeys (GoTrue)
    Needs the service-role key.`)
  @Answer(200, 'The passkeys, oldest first', [GoTruePasskeyResponse])
  @Errors(userNotFound())
  async goTrueListUserPasskeys(
    @CurrentProject() project: Project,
    @Param('user_id') userId: string,
  ): Promise<GoTruePasskeyResponse[]> {
    const { id } = await this.users.get(project, userId);
    return (await this.passkeys.list(project, id)).map(toPasskey);
  }

  @Delete(':passkey_id')
  @Describe(`Remove a passkey of a user (GoTrue)
    Needs the service-role key.`)
  @Answer(200, 'The passkey has been removed', EmptyResponse)
  @Errors(passkeyNotFound())
  async goTrueRemoveUserPasskey(
    @CurrentSender() from: Sender,
    @Param('user_id') userId: string,
    @Param('passkey_id') id: string,
  ): Promise<EmptyResponse> {
    await this.passkeys.removeAsAdmin(from, userId, id);
    return {};
  }
}

const toView = ({
  challengeId,
  options,
  expiresAt,
}: IssuedChallenge<object>): GoTruePasskeyChallengeResponse => ({
  challenge_id: challengeId,
  options,
  expires_at: expiresAt,
});

const toPasskey = ({ id, name, createdAt, lastUsedAt }: Passkey): GoTruePasskeyResponse => ({
  id,
  friendly_name: name,
  created_at: createdAt.toISOString(),
  ...(lastUsedAt ? { last_used_at: lastUsedAt.toISOString() } : {}),
});
