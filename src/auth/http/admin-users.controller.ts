/** Administration of a project's users with its service-role key (DECISIONS.md 4). */
import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Param,
  Patch,
  Post,
  Query,
  Res,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { ApiOperation, ApiSecurity, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { ApiKeyGuard } from '../../access/api-key.guard';
import { BearerGuard } from '../../access/bearer.guard';
import { CurrentProject } from '../../access/current-caller.decorator';
import { ServiceRoleGuard } from '../../access/service-role.guard';
import { JsonBodyInterceptor } from '../../http/bodies/json-body.interceptor';
import type { Project } from '../../projects/project';
import { toAdminUserView } from '../accounts/account';
import { AdminUsersService, UserInput } from '../admin/admin-users.service';
import { UserListRepository } from '../admin/user-list.repository';
import type { RequestOrigin } from '../../identity/request-origin';
import { CurrentOrigin } from '../../identity/http/current-origin.decorator';
import { CreateAdminUserDto, InviteUserDto, ListUsersQuery, UpdateAdminUserDto } from './dto/admin-users.dto';
import { AdminUserAnswerDto, AdminUsersDto } from './dto/admin-answers.dto';
import { MessageDto } from './dto/auth-answers.dto';
import { pageOf } from './dto/page.dto';
import { Answer, JsonBody } from '../../http/docs/answer.decorator';
import { COUNT } from '../../http/docs/documented-headers';
import { JSON_BODY_ERRORS } from '../../http/docs/standard-errors';
import { invalidParameters } from '../../common/errors/http-errors';
import { emailTaken, userNotFound, pageTooLarge, unusablePasswordHash } from '../auth.errors';
import { invalidEmail } from '../../identity/identity.errors';
import { AuthErrors, SERVICE_ERRORS, tooManyRequests, ProjectIdParam, IdParam } from './auth-docs.decorator';
import { tooShortPassword } from '../../identity/passwords/password-policy';

@ApiTags('auth')
@ApiSecurity({ apikey: [], bearer: [] })
@ProjectIdParam()
@Controller('v1/auth/:project_id/admin/users')
@UseGuards(ApiKeyGuard, BearerGuard, ServiceRoleGuard)
@UseInterceptors(JsonBodyInterceptor)
export class AdminUsersController {
  constructor(
    private readonly users: AdminUsersService,
    private readonly lists: UserListRepository,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'adminListUsers',
    summary: 'List, search and sort users',
    description:
      'Needs the service-role key, as apikey or as bearer. Pages are numbered from 1. A page larger than 16 MiB is refused; lower per_page then.',
  })
  @Answer(200, 'A page of users', AdminUsersDto, {
    'X-Total-Count': { description: 'Total number of users', schema: COUNT },
  })
  @AuthErrors(invalidParameters('per_page must not be greater than 1000'), pageTooLarge(null), SERVICE_ERRORS)
  async list(
    @CurrentProject() project: Project,
    @Query() query: ListUsersQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AdminUsersDto> {
    const { total, accounts } = await this.lists.list(project, {
      search: query.search || null,
      sort: query.sort ?? 'created_at',
      descending: (query.order ?? 'desc') === 'desc',
      ...pageOf(query),
    });
    response.set('X-Total-Count', String(total));
    return { users: accounts.map(toAdminUserView) };
  }

  @Post()
  @HttpCode(200)
  @ApiOperation({
    operationId: 'adminCreateUser',
    summary: 'Create a user, with or without a password',
    description:
      'Needs the service-role key, as apikey or as bearer. Sign-up settings and limits do not apply, and no mail is sent. A user without a password can set one through a reset mail.',
  })
  @JsonBody(CreateAdminUserDto)
  @Answer(200, 'The user', AdminUserAnswerDto)
  @AuthErrors(
    emailTaken(),
    invalidEmail(),
    tooShortPassword(),
    unusablePasswordHash(),
    JSON_BODY_ERRORS,
    SERVICE_ERRORS,
    tooManyRequests(),
  )
  async create(
    @CurrentProject() project: Project,
    @Body() body: CreateAdminUserDto,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<AdminUserAnswerDto> {
    const input = { ...toInput(body), email: body.email };
    return { user: toAdminUserView(await this.users.create(project, input, origin)) };
  }

  @Post('invite')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'adminInviteUser',
    summary: 'Invite a user by mail',
    description:
      'Needs the service-role key, as apikey or as bearer. The mail contains a token for update-password, which also verifies the address. A second invitation to the same address is refused.',
  })
  @JsonBody(InviteUserDto)
  @Answer(200, 'The user', AdminUserAnswerDto)
  @AuthErrors(emailTaken(), invalidEmail(), JSON_BODY_ERRORS, SERVICE_ERRORS)
  async invite(
    @CurrentProject() project: Project,
    @Body() { email, name, data }: InviteUserDto,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<AdminUserAnswerDto> {
    const input = { email, name: name ?? undefined, data: data ?? undefined };
    return { user: toAdminUserView(await this.users.invite(project, input, origin)) };
  }

  @Get(':user_id')
  @ApiOperation({
    operationId: 'adminGetUser',
    summary: 'Get a user',
    description: 'Needs the service-role key, as apikey or as bearer.',
  })
  @IdParam('user_id', 'The id of the user')
  @Answer(200, 'The user', AdminUserAnswerDto)
  @AuthErrors(userNotFound(), SERVICE_ERRORS)
  async get(@CurrentProject() project: Project, @Param('user_id') id: string): Promise<AdminUserAnswerDto> {
    return { user: toAdminUserView(await this.users.get(project, id)) };
  }

  @Patch(':user_id')
  @ApiOperation({
    operationId: 'adminUpdateUser',
    summary: 'Change or ban a user',
    description:
      'Needs the service-role key, as apikey or as bearer. Omitted members keep their values. A new password ends all sessions of the user. All tokens of a banned user are refused until the ban ends. A new address takes effect at once.',
  })
  @IdParam('user_id', 'The id of the user')
  @JsonBody(UpdateAdminUserDto)
  @Answer(200, 'The updated user', AdminUserAnswerDto)
  @AuthErrors(
    invalidEmail(),
    emailTaken(),
    tooShortPassword(),
    unusablePasswordHash(),
    userNotFound(),
    tooManyRequests(),
    JSON_BODY_ERRORS,
    SERVICE_ERRORS,
  )
  async update(
    @CurrentProject() project: Project,
    @Param('user_id') id: string,
    @Body() body: UpdateAdminUserDto,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<AdminUserAnswerDto> {
    return { user: toAdminUserView(await this.users.update(project, id, toInput(body), origin)) };
  }

  @Delete(':user_id')
  @ApiOperation({
    operationId: 'adminDeleteUser',
    summary: 'Delete a user and end all their sessions',
    description:
      "Needs the service-role key, as apikey or as bearer. The user's files are kept, but their owner can no longer sign in.",
  })
  @IdParam('user_id', 'The id of the user')
  @Answer(200, 'The user has been deleted', MessageDto)
  @AuthErrors(userNotFound(), SERVICE_ERRORS)
  async remove(
    @CurrentProject() project: Project,
    @Param('user_id') id: string,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<MessageDto> {
    await this.users.remove(project, id, origin);
    return { message: 'The user has been deleted' };
  }

  @Post(':user_id/logout')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'adminSignOutUser',
    summary: 'End all sessions of a user',
    description:
      'Needs the service-role key, as apikey or as bearer. The tokens of the user are refused from the next request on.',
  })
  @IdParam('user_id', 'The id of the user')
  @Answer(200, 'All sessions have ended', MessageDto)
  @AuthErrors(userNotFound(), SERVICE_ERRORS)
  async signOut(
    @CurrentProject() project: Project,
    @Param('user_id') id: string,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<MessageDto> {
    await this.users.signOut(project, id, origin);
    return { message: 'The user has been signed out everywhere' };
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
