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
import { ApiOperation, ApiParam, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
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
import type { RequestOrigin } from '../audit/request-origin';
import { ApiAuthErrors } from './auth-responses.decorator';
import { CurrentOrigin } from './current-origin.decorator';
import { CreateAdminUserDto, InviteUserDto, ListUsersQuery, UpdateAdminUserDto } from './dto/admin-users.dto';
import { AdminUserAnswerDto, AdminUsersDto } from './dto/admin-answers.dto';
import { MessageDto } from './dto/auth-answers.dto';
import { pageOf } from './dto/page.dto';

@ApiTags('auth')
@ApiSecurity({ apikey: [], bearer: [] })
@ApiParam({ name: 'project_id', type: String })
@ApiAuthErrors(400, 401, 403, 500)
@Controller('v1/auth/:project_id/admin/users')
@UseGuards(ApiKeyGuard, BearerGuard, ServiceRoleGuard)
@UseInterceptors(JsonBodyInterceptor)
export class AdminUsersController {
  constructor(
    private readonly users: AdminUsersService,
    private readonly lists: UserListRepository,
  ) {}

  @Get()
  @ApiOperation({ operationId: 'adminListUsers', summary: 'List, search and sort users' })
  @ApiResponse({
    status: 200,
    description: 'A page of users',
    type: AdminUsersDto,
    headers: { 'X-Total-Count': { description: 'Users on all pages', schema: { type: 'integer' } } },
  })
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
  @ApiOperation({ operationId: 'adminCreateUser', summary: 'Create a user, with or without a password' })
  @ApiResponse({ status: 200, description: 'The user', type: AdminUserAnswerDto })
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
    summary: 'Create a user who sets a password with a mailed token',
  })
  @ApiResponse({ status: 200, description: 'The user', type: AdminUserAnswerDto })
  async invite(
    @CurrentProject() project: Project,
    @Body() { email, name, data }: InviteUserDto,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<AdminUserAnswerDto> {
    const input = { email, name: name ?? undefined, data: data ?? undefined };
    return { user: toAdminUserView(await this.users.invite(project, input, origin)) };
  }

  @Get(':user_id')
  @ApiOperation({ operationId: 'adminGetUser', summary: 'Get a user' })
  @ApiResponse({ status: 200, description: 'The user', type: AdminUserAnswerDto })
  @ApiAuthErrors(404)
  async get(@CurrentProject() project: Project, @Param('user_id') id: string): Promise<AdminUserAnswerDto> {
    return { user: toAdminUserView(await this.users.get(project, id)) };
  }

  @Patch(':user_id')
  @ApiOperation({ operationId: 'adminUpdateUser', summary: 'Change or ban a user' })
  @ApiResponse({ status: 200, description: 'The changed user', type: AdminUserAnswerDto })
  @ApiAuthErrors(404)
  async update(
    @CurrentProject() project: Project,
    @Param('user_id') id: string,
    @Body() body: UpdateAdminUserDto,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<AdminUserAnswerDto> {
    return { user: toAdminUserView(await this.users.update(project, id, toInput(body), origin)) };
  }

  @Delete(':user_id')
  @ApiOperation({ operationId: 'adminDeleteUser', summary: 'Delete a user with all sessions' })
  @ApiResponse({ status: 200, description: 'The user has been deleted', type: MessageDto })
  @ApiAuthErrors(404)
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
  @ApiOperation({ operationId: 'adminSignOutUser', summary: 'End all sessions of a user' })
  @ApiResponse({ status: 200, description: 'All sessions have been ended', type: MessageDto })
  @ApiAuthErrors(404)
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
