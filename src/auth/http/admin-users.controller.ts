/** Administration of a project's users with its service-role key. */
import { Body, Controller, Delete, Get, Param, Patch, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { CurrentProject } from '../../access/current-caller.decorator';
import type { Project } from '../../projects/project';
import { AdminUsersService, UserInput } from '../admin/admin-users.service';
import { AdminUsersRepository } from '../admin/admin-users.repository';
import type { Sender } from '../../identity/request-origin';
import { CurrentSender } from '../../identity/http/current-origin.decorator';
import {
  CreateAdminUserDto,
  InviteUserDto,
  ListUsersQuery,
  pageOf,
  UpdateAdminUserDto,
} from './dto/admin-users.dto';
import {
  AdminUserEnvelopeResponse,
  AdminUsersResponse,
  AdminSessionsResponse,
  toAdminUser,
} from './dto/admin-responses';
import { MessageAnswer, MessageResponse, toSessionFacts } from './dto/auth-responses';
import { COUNT } from '../../http/docs/documented-headers';
import { invalidParameters } from '../../common/errors/app-error';
import { invalidEmail } from '../../identity/identity.errors';
import { emailTaken, userNotFound, pageTooLarge, unusablePasswordHash, factorNotFound } from '../auth.errors';
import { AuthApi, tooManyRequests } from './auth-docs.decorator';
import { tooShortPassword } from '../../identity/passwords/password-policy';
import { Answer, Describe, Errors, PathErrors } from '../../http/docs/operation.decorators';
import { FactorService } from '../factors/factor.service';
import { SessionService } from '../sessions/session.service';
import { FactorsResponse, toFactorView } from './dto/factors.dto';

@AuthApi('service_role')
@PathErrors({ ':user_id': userNotFound() })
@Controller('v1/auth/:project_id/admin/users')
export class AdminUsersController {
  constructor(
    private readonly users: AdminUsersService,
    private readonly lists: AdminUsersRepository,
    private readonly factors: FactorService,
    private readonly sessions: SessionService,
  ) {}

  @Get()
  @Describe(`List, search and sort users
    Needs the service-role key, as apikey or as bearer. Pages are numbered from 1. A page larger than 16 MiB is refused; lower per_page then.`)
  @Answer(200, 'A page of users', AdminUsersResponse, {
    'X-Total-Count': { description: 'Total number of users', schema: COUNT },
  })
  @Errors(invalidParameters('per_page must not be greater than 1000'), pageTooLarge(null))
  async adminListUsers(
    @CurrentProject() project: Project,
    @Query() query: ListUsersQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AdminUsersResponse> {
    const { total, accounts } = await this.lists.list(project, {
      search: query.search || null,
      sort: query.sort ?? 'created_at',
      descending: (query.order ?? 'desc') === 'desc',
      ...pageOf(query),
    });
    response.set('X-Total-Count', String(total));
    return { users: accounts.map(toAdminUser) };
  }

  @Post()
  @Describe(`Create a user, with or without a password
    Needs the service-role key, as apikey or as bearer. Sign-up settings and limits do not apply, and no mail is sent. A user without a password can set one through a reset mail.`)
  @Answer(200, 'The user', AdminUserEnvelopeResponse)
  @Errors(emailTaken(), invalidEmail(), tooShortPassword(), unusablePasswordHash(), tooManyRequests())
  async adminCreateUser(
    @CurrentSender() from: Sender,
    @Body() body: CreateAdminUserDto,
  ): Promise<AdminUserEnvelopeResponse> {
    const input = { ...toInput(body), email: body.email };
    return { user: toAdminUser(await this.users.create(from, input)) };
  }

  @Post('invite')
  @Describe(`Invite a user by mail
    Needs the service-role key, as apikey or as bearer. The mail contains a token for update-password, which also verifies the address. A second invitation to the same address is refused.`)
  @Answer(200, 'The user', AdminUserEnvelopeResponse)
  @Errors(emailTaken(), invalidEmail())
  async adminInviteUser(
    @CurrentSender() from: Sender,
    @Body() { email, name, data }: InviteUserDto,
  ): Promise<AdminUserEnvelopeResponse> {
    const input = { email, name: name ?? undefined, data: data ?? undefined };
    return { user: toAdminUser(await this.users.invite(from, input)) };
  }

  @Get(':user_id')
  @Describe(`Get a user
    Needs the service-role key, as apikey or as bearer.`)
  @Answer(200, 'The user', AdminUserEnvelopeResponse)
  async adminGetUser(
    @CurrentProject() project: Project,
    @Param('user_id') id: string,
  ): Promise<AdminUserEnvelopeResponse> {
    return { user: toAdminUser(await this.users.get(project, id)) };
  }

  @Patch(':user_id')
  @Describe(`Change or ban a user
    Needs the service-role key, as apikey or as bearer. Omitted members keep their values. A new password ends all sessions of the user. All tokens of a banned user are refused until the ban ends. A new address takes effect at once.`)
  @Answer(200, 'The updated user', AdminUserEnvelopeResponse)
  @Errors(invalidEmail(), emailTaken(), tooShortPassword(), unusablePasswordHash(), tooManyRequests())
  async adminUpdateUser(
    @CurrentSender() from: Sender,
    @Param('user_id') id: string,
    @Body() body: UpdateAdminUserDto,
  ): Promise<AdminUserEnvelopeResponse> {
    return { user: toAdminUser(await this.users.updateUser(from, id, toInput(body))) };
  }

  @Delete(':user_id')
  @Describe(`Delete a user and end all their sessions
    Needs the service-role key, as apikey or as bearer. The user's files are kept, but their owner can no longer sign in.`)
  @MessageAnswer('The user has been deleted', 'The user has been deleted')
  async adminDeleteUser(
    @CurrentSender() from: Sender,
    @Param('user_id') id: string,
  ): Promise<MessageResponse> {
    await this.users.remove(from, id);
    return { message: 'The user has been deleted' };
  }

  @Post(':user_id/logout')
  @Describe(`End all sessions of a user
    Needs the service-role key, as apikey or as bearer. The tokens of the user are refused from the next request on.`)
  @MessageAnswer('The user has been signed out everywhere', 'All sessions have ended')
  async adminSignOutUser(
    @CurrentSender() from: Sender,
    @Param('user_id') id: string,
  ): Promise<MessageResponse> {
    await this.users.signOut(from, id);
    return { message: 'The user has been signed out everywhere' };
  }

  @Get(':user_id/factors')
  @Describe(`List a user's second factors
    Needs the service-role key, as apikey or as bearer. Secrets are never returned. The list is empty for an unknown user.`)
  @Answer(200, 'The factors, oldest first', FactorsResponse)
  async adminListFactors(
    @CurrentProject() project: Project,
    @Param('user_id') userId: string,
  ): Promise<FactorsResponse> {
    return { factors: (await this.factors.listOf(project, userId)).map(toFactorView) };
  }

  @Delete(':user_id/factors/:factor_id')
  @Describe(`Remove a second factor that the user has lost
    Needs the service-role key, as apikey or as bearer. If no other factor is left, sessions that verified it fall back to \`aal1\` at their next refresh.`)
  @MessageAnswer('The factor has been removed', 'The factor has been removed')
  @Errors(factorNotFound())
  async adminRemoveFactor(
    @CurrentSender() from: Sender,
    @Param('user_id') userId: string,
    @Param('factor_id') id: string,
  ): Promise<MessageResponse> {
    await this.factors.removeAsAdmin(from, userId, id);
    return { message: 'The factor has been removed' };
  }

  @Get(':user_id/sessions')
  @Describe(`List a user's active sessions
    Needs the service-role key, as apikey or as bearer. At most 100. The list is empty for an unknown or banned user.`)
  @Answer(200, 'The sessions, most recently refreshed first', AdminSessionsResponse)
  async adminListSessions(
    @CurrentProject() project: Project,
    @Param('user_id') userId: string,
  ): Promise<AdminSessionsResponse> {
    const sessions = await this.sessions.listOf(project, userId);
    return {
      sessions: sessions.map((session) => ({ ...toSessionFacts(session), aal: session.aal })),
    };
  }
}

/** Null means the same as an absent member, except for the ban, which it lifts. */
function toInput(body: UpdateAdminUserDto): UserInput {
  const banned = body.banned_until;
  return {
    email: body.email ?? undefined,
    name: body.name ?? undefined,
    data: body.data ?? undefined,
    password: body.password ?? undefined,
    passwordHash: body.password_hash ?? undefined,
    emailVerified: body.email_verified ?? undefined,
    bannedUntil: typeof banned === 'string' ? new Date(banned) : banned,
  };
}
