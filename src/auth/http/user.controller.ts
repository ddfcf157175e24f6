/** Endpoints for a signed-in user: they need the apikey and the bearer token. */
import { Body, Controller, Delete, Get, Param, Patch, Post, UseGuards } from '@nestjs/common';
import { CurrentProject } from '../../access/current-caller.decorator';
import { SessionGuard } from '../../access/session.guard';
import { UserGuard } from '../../access/user.guard';
import type { Project } from '../../projects/project';
import { toUserView } from '../accounts/account';
import { ProfileService } from '../sessions/profile.service';
import type { Sender } from '../../identity/request-origin';
import type { SessionOwner } from '../accounts/account-statements';
import { SessionService } from '../sessions/session.service';
import { CurrentSender } from '../../identity/http/current-origin.decorator';
import { CurrentSession, CurrentTokenUser, type TokenUser } from './current-session.decorator';
import { LogoutDto, UpdateUserDto } from './dto/account.dto';
import {
  MessageAnswer,
  MessageResponse,
  SessionsResponse,
  toSessionFacts,
  UserEnvelopeResponse,
} from './dto/auth-responses';
import { invalidParameters } from '../../common/errors/app-error';
import { invalidEmail, sessionNotFound } from '../../identity/identity.errors';
import {
  emailTaken,
  domainNotAllowed,
  wrongCurrentPassword,
  currentPasswordRequired,
  secondFactorRequired,
} from '../auth.errors';
import { AuthApi, tooManyRequests } from './auth-docs.decorator';
import { tooShortPassword } from '../../identity/passwords/password-policy';
import { Answer, Describe, Errors, JsonBody } from '../../http/docs/operation.decorators';

const LOGOUT_MESSAGES = {
  local: 'Signed out',
  others: 'Signed out of all other sessions',
  global: 'Signed out everywhere',
} as const;

@AuthApi('bearer')
@Controller('v1/auth/:project_id')
export class UserController {
  constructor(
    private readonly profiles: ProfileService,
    private readonly sessions: SessionService,
  ) {}

  @Get('user')
  @UseGuards(UserGuard)
  @Describe(`Get the signed-in user
    Needs the apikey and a user's access token, or a token with a user's id as \`sub\` that the project's own backend signed.`)
  @Answer(200, 'The user', UserEnvelopeResponse)
  async getUser(
    @CurrentProject() project: Project,
    @CurrentTokenUser() { userId, sessionId }: TokenUser,
  ): Promise<UserEnvelopeResponse> {
    return { user: toUserView(await this.profiles.get(project, userId, sessionId)) };
  }

  @Patch('user')
  @UseGuards(SessionGuard)
  @Describe(`Change your name, email, password or data
    Needs the apikey and the access token of a session. Omitted members keep their values. A new \`email\` takes effect when its mailed token is confirmed. A new \`password\` needs \`current_password\` and ends all other sessions. If the user has a second factor, both need a session that has verified it.`)
  @Answer(200, 'The updated user', UserEnvelopeResponse)
  @Errors(currentPasswordRequired(), invalidEmail(), emailTaken(), domainNotAllowed(), tooShortPassword())
  @Errors(wrongCurrentPassword(), secondFactorRequired(), tooManyRequests())
  async updateUser(
    @CurrentSender() from: Sender,
    @CurrentSession() owner: SessionOwner,
    @Body() { name, email, password, current_password: currentPassword, data }: UpdateUserDto,
  ): Promise<UserEnvelopeResponse> {
    const input = { name, email, password, currentPassword, data };
    // A null means the same as an absent member.
    const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null));
    return { user: toUserView(await this.profiles.updateProfile(from, owner, given)) };
  }

  @Post('logout')
  @UseGuards(SessionGuard)
  @Describe(`Sign out
    Needs the apikey and the access token of a session. The access tokens of an ended session are refused from the next request on, by auth, table REST and storage.`)
  @JsonBody(LogoutDto, { required: false })
  @MessageAnswer(LOGOUT_MESSAGES, 'The sessions in the scope have ended')
  @Errors(invalidParameters('scope must be one of the following values: local, others, global'))
  async signOut(
    @CurrentSender() from: Sender,
    @CurrentSession() owner: SessionOwner,
    @Body() body: LogoutDto,
  ): Promise<MessageResponse> {
    const scope = body.scope ?? 'local';
    await this.sessions.signOut(from, owner, scope);
    return { message: LOGOUT_MESSAGES[scope] };
  }

  @Get('sessions')
  @UseGuards(SessionGuard)
  @Describe(`List your sessions
    Needs the apikey and the access token of a session. Sessions that ended are not listed.`)
  @Answer(200, 'The active sessions, newest first', SessionsResponse)
  async listSessions(
    @CurrentProject() project: Project,
    @CurrentSession() owner: SessionOwner,
  ): Promise<SessionsResponse> {
    const sessions = await this.sessions.list(project, owner);
    return {
      sessions: sessions.map((session) => ({
        ...toSessionFacts(session),
        current: session.id === owner.sessionId.toLowerCase(),
      })),
    };
  }

  @Delete('sessions/:session_id')
  @UseGuards(SessionGuard)
  @Describe(`End one of your sessions
    Needs the apikey and the access token of a session, which may be the one to end. Its tokens are refused from the next request on.`)
  @MessageAnswer('The session has been ended', 'The session has ended')
  @Errors(sessionNotFound())
  async revokeSession(
    @CurrentSender() from: Sender,
    @CurrentSession() owner: SessionOwner,
    @Param('session_id') id: string,
  ): Promise<MessageResponse> {
    await this.sessions.revoke(from, owner, id);
    return { message: 'The session has been ended' };
  }
}
