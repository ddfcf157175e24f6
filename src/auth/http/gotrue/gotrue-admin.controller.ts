/** GoTrue's paths for administrators with the service-role key. */
import { Body, Delete, Get, Param, Post, Put, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { CurrentProject } from '../../../access/current-caller.decorator';
import { Clock } from '../../../common/time/clock';
import { invalidParameters } from '../../../common/errors/app-error';
import { Answer, Describe, Errors, JsonBody } from '../../../http/docs/operation.decorators';
import { CurrentSender } from '../../../identity/http/current-origin.decorator';
import { invalidEmail } from '../../../identity/identity.errors';
import { tooShortPassword } from '../../../identity/passwords/password-policy';
import type { Sender } from '../../../identity/request-origin';
import { Project } from '../../../projects/project';
import { mergedJson } from '../../accounts/account';
import { FactorService } from '../../factors/factor.service';
import { AdminUsersService, type UserInput } from '../../admin/admin-users.service';
import { GeneratedLinks, type LinkKind } from '../../admin/generated-links.service';
import { AdminUsersRepository } from '../../admin/admin-users.repository';
import { AuditRepository } from '../../audit/audit.repository';
import {
  emailTaken,
  factorNotFound,
  pageTooLarge,
  phoneDisabled,
  unusablePasswordHash,
  userNotFound,
} from '../../auth.errors';
import { redirectFor } from '../../codes/redirects';
import { tooManyRequests } from '../auth-docs.decorator';
import { pageOf } from '../dto/admin-users.dto';
import {
  GoTrueAuditResponse,
  GoTrueVerifiedFactorResponse,
  GoTrueFactorResponse,
  GoTrueLinkResponse,
  GoTrueUserResponse,
  GoTrueUsersResponse,
  IdResponse,
  EmptyResponse,
} from './dto/gotrue-responses';
import {
  GoTrueAdminUpdateDto,
  GoTrueCreateUserDto,
  GoTrueDeleteUserDto,
  GoTrueGenerateLinkDto,
  GoTrueInviteDto,
  GoTruePageQuery,
  RedirectQuery,
  type LINK_TYPES,
} from './dto/gotrue-inputs.dto';
import { GoTrueApi, GoTrueController } from './gotrue-api.decorator';
import { softDeletionUnsupported, validationFailed } from './gotrue-errors';
import { flowOf } from './gotrue-mail-types';
import { PAGE_HEADERS, pageHeaders } from './gotrue-pages';
import { GoTrueAnswers } from './gotrue-answers.service';
import { toGoTrueFactor, toPlainUser } from './gotrue-views';

const KINDS: Readonly<Record<(typeof LINK_TYPES)[number], LinkKind>> = {
  signup: 'verify',
  invite: 'invite',
  magiclink: 'magic_link',
  recovery: 'reset',
  email_change_current: 'email_change',
  email_change_new: 'email_change',
};

@GoTrueApi('service_role')
@GoTrueController()
export class GoTrueAdminController {
  constructor(
    private readonly users: AdminUsersService,
    private readonly lists: AdminUsersRepository,
    private readonly answers: GoTrueAnswers,
    private readonly factors: FactorService,
    private readonly links: GeneratedLinks,
    private readonly audit: AuditRepository,
    private readonly clock: Clock,
  ) {}

  @Get('admin/users')
  @Describe(`List users (GoTrue)
    Needs the service-role key. The newest first. Pages are numbered from 1. Factors are not listed.`)
  @Answer(200, 'A page of users', GoTrueUsersResponse, PAGE_HEADERS)
  @Errors(invalidParameters('page must not be less than 1'), pageTooLarge(null))
  async goTrueListUsers(
    @CurrentProject() project: Project,
    @Query() query: GoTruePageQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<GoTrueUsersResponse> {
    const page = pageOf(query);
    const search = query.filter ?? null;
    const order = { sort: 'created_at', descending: true } as const;
    const { total, accounts } = await this.lists.list(project, { search, ...order, ...page });
    response.set(pageHeaders('admin/users', total, page));
    return { users: accounts.map((account) => toPlainUser(project, account)), aud: 'authenticated' };
  }

  @Post('admin/users')
  @Describe(`Create a user (GoTrue)
    Needs the service-role key. Sign-up settings and limits do not apply, and no mail is sent.`)
  @Answer(200, 'The user', GoTrueUserResponse)
  @Errors(emailTaken(), invalidEmail(), tooShortPassword(), unusablePasswordHash(), phoneDisabled())
  @Errors(tooManyRequests())
  async goTrueCreateUser(
    @CurrentSender() from: Sender,
    @Body() body: GoTrueCreateUserDto,
  ): Promise<GoTrueUserResponse> {
    const { email, id } = body;
    if (email === undefined) throw validationFailed('Cannot create a user without an email');
    const input = {
      ...toInput(body, this.clock.now()),
      email,
      id: id ?? undefined,
      data: mergedJson({}, body.user_metadata),
      appData: mergedJson({}, body.app_metadata),
    };
    return toPlainUser(from.project, await this.users.create(from, input));
  }

  @Get('admin/users/:user_id')
  @Describe(`Get a user (GoTrue)
    Needs the service-role key.`)
  @Answer(200, 'The user', GoTrueUserResponse)
  @Errors(userNotFound())
  goTrueGetUserById(
    @CurrentProject() project: Project,
    @Param('user_id') id: string,
  ): Promise<GoTrueUserResponse> {
    return this.answers.userOf(project, id);
  }

  @Put('admin/users/:user_id')
  @Describe(`Change or ban a user (GoTrue)
    Needs the service-role key. Omitted members keep their values. A new password ends all sessions of the user; a new address takes effect at once.`)
  @Answer(200, 'The updated user', GoTrueUserResponse)
  @Errors(invalidEmail(), emailTaken(), tooShortPassword(), unusablePasswordHash(), userNotFound())
  @Errors(phoneDisabled(), tooManyRequests())
  async goTrueUpdateUserById(
    @CurrentSender() from: Sender,
    @Param('user_id') id: string,
    @Body() body: GoTrueAdminUpdateDto,
  ): Promise<GoTrueUserResponse> {
    const input = { ...toInput(body, this.clock.now()), merges: true };
    return toPlainUser(from.project, await this.users.updateUser(from, id, input));
  }

  @Delete('admin/users/:user_id')
  @Describe(`Delete a user and end all their sessions (GoTrue)
    Needs the service-role key.`)
  @JsonBody(GoTrueDeleteUserDto, { required: false })
  @Answer(200, 'The user has been deleted', EmptyResponse)
  @Errors(userNotFound(), softDeletionUnsupported())
  async goTrueDeleteUser(
    @CurrentSender() from: Sender,
    @Param('user_id') id: string,
    @Body() body: GoTrueDeleteUserDto,
  ): Promise<EmptyResponse> {
    if (body.should_soft_delete === true) throw softDeletionUnsupported();
    await this.users.remove(from, id);
    return {};
  }

  @Get('admin/users/:user_id/factors')
  @Describe(`List a user's second factors (GoTrue)
    Needs the service-role key. Secrets are never returned.`)
  @Answer(200, 'The factors, oldest first', [GoTrueVerifiedFactorResponse])
  @Errors(userNotFound())
  async goTrueListUserFactors(
    @CurrentProject() project: Project,
    @Param('user_id') id: string,
  ): Promise<GoTrueFactorResponse[]> {
    const { id: userId } = await this.users.get(project, id);
    return (await this.factors.listOf(project, userId)).map(toGoTrueFactor);
  }

  @Delete('admin/users/:user_id/factors/:factor_id')
  @Describe(`Remove a second factor that the user has lost (GoTrue)
    Needs the service-role key.`)
  @Answer(200, 'The factor has been removed', IdResponse)
  @Errors(factorNotFound())
  async goTrueRemoveUserFactor(
    @CurrentSender() from: Sender,
    @Param('user_id') userId: string,
    @Param('factor_id') id: string,
  ): Promise<IdResponse> {
    await this.factors.removeAsAdmin(from, userId, id);
    return { id };
  }

  @Post('invite')
  @Describe(`Invite a user by mail (GoTrue)
    Needs the service-role key. The mail contains a link and a code that sign in. A second invitation to the same address is refused.`)
  @Answer(200, 'The user', GoTrueUserResponse)
  @Errors(emailTaken(), invalidEmail())
  async goTrueInvite(
    @CurrentSender() from: Sender,
    @Body() { email, data }: GoTrueInviteDto,
    @Query() { redirect_to: redirectTo }: RedirectQuery,
  ): Promise<GoTrueUserResponse> {
    const flow = flowOf(from.project, redirectTo, {});
    return toPlainUser(from.project, await this.users.invite(from, { email, data: data ?? undefined }, flow));
  }

  @Post('admin/generate_link')
  @Describe(`Make the link and the code of a mail, and send nothing (GoTrue)
    Needs the service-role key. For \`signup\`, \`invite\` and \`magiclink\` an address without an account gets one.`)
  @Answer(200, 'The user with the link', GoTrueLinkResponse)
  @Errors(emailTaken(), invalidEmail(), tooShortPassword(), userNotFound())
  async goTrueGenerateLink(
    @CurrentSender() { project, origin }: Sender,
    @Body() body: GoTrueGenerateLinkDto,
    @Query() query: RedirectQuery,
  ): Promise<GoTrueLinkResponse> {
    const { type, email, new_email: newEmail, password, data } = body;
    const kind = KINDS[type];
    if (kind === 'email_change' && newEmail === undefined) throw validationFailed('new_email is needed');
    const redirectTo = redirectFor(project.settings, body.redirect_to ?? query.redirect_to);
    const request = {
      kind,
      email,
      newEmail: kind === 'email_change' ? newEmail : undefined,
      password: password ?? undefined,
      data: data ?? undefined,
      redirectTo,
    };
    const { account, link, code, token } = await this.links.generate({ project, origin }, request);
    return {
      ...(await this.answers.userOf(project, account.id)),
      action_link: link,
      email_otp: code,
      hashed_token: token,
      verification_type: type,
      redirect_to: redirectTo ?? '',
    };
  }

  @Get('admin/audit')
  @Describe(`List the audit trail, newest entries first (GoTrue)
    Needs the service-role key.`)
  @Answer(200, 'A page of entries', [GoTrueAuditResponse], PAGE_HEADERS)
  @Errors(invalidParameters('page must not be less than 1'))
  async goTrueListAudit(
    @CurrentProject() project: Project,
    @Query() query: GoTruePageQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<GoTrueAuditResponse[]> {
    const page = pageOf(query);
    const { total, entries } = await this.audit.list(project, { action: null, userId: null, ...page });
    response.set(pageHeaders('admin/audit', total, page));
    return entries.map((entry) => ({
      id: entry.id,
      payload: {
        actor_id: entry.actor_id,
        action: entry.action,
        timestamp: entry.at.toISOString(),
        traits: entry.details,
      },
      created_at: entry.at.toISOString(),
      ip_address: entry.ip ?? '',
    }));
  }
}

function toInput(body: GoTrueAdminUpdateDto, now: number): UserInput {
  if (body.phone !== undefined) throw phoneDisabled();
  return {
    email: body.email ?? undefined,
    password: body.password ?? undefined,
    passwordHash: body.password_hash ?? undefined,
    emailVerified: body.email_confirm ?? undefined,
    data: body.user_metadata ?? undefined,
    appData: body.app_metadata ?? undefined,
    bannedUntil: banEnd(body.ban_duration ?? undefined, now),
  };
}

const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000 };
/** A hundred years in milliseconds, so that the year has four digits. */
const MAX_BAN_MS = 100 * 366 * 24 * 3_600_000;

/** `24h30m`, as Go writes it; `none` lifts the ban. */
function banEnd(duration: string | undefined, now: number): Date | null | undefined {
  if (duration === undefined) return undefined;
  if (duration === 'none') return null;
  if (!/^(\d{1,9}(\.\d{1,9})?[hms])+$/.test(duration))
    throw validationFailed('invalid format for ban duration');
  const parts = [...duration.matchAll(/([\d.]+)([hms])/g)];
  const length = parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0), 0);
  return new Date(now + Math.min(length, MAX_BAN_MS));
}
