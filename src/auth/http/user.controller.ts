/** Endpoints for a signed-in user: they need the apikey and the bearer token (SPEC.md 4.2, DECISIONS.md 4). */
import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Param,
  Patch,
  Post,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { ApiBody, ApiOperation, ApiParam, ApiResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { ApiKeyGuard } from '../../access/api-key.guard';
import { BearerGuard } from '../../access/bearer.guard';
import { CurrentProject } from '../../access/current-caller.decorator';
import { SessionGuard } from '../../access/session.guard';
import { UserGuard } from '../../access/user.guard';
import { JsonBodyInterceptor } from '../../http/bodies/json-body.interceptor';
import type { Project } from '../../projects/project';
import { toUserView } from '../accounts/account';
import { ProfileService } from '../sessions/profile.service';
import type { RequestOrigin } from '../audit/request-origin';
import type { SessionOwner } from '../accounts/live-session';
import { SessionService } from '../sessions/session.service';
import { ApiAuthErrors } from './auth-responses.decorator';
import { CurrentOrigin } from './current-origin.decorator';
import { CurrentSession, CurrentTokenUser, type TokenUser } from './current-session.decorator';
import { LogoutDto, UpdateUserDto } from './dto/account.dto';
import { MessageDto, SessionsDto, UserAnswerDto } from './dto/auth-answers.dto';

const LOGOUT_MESSAGES = {
  local: 'Signed out',
  others: 'Signed out of all other sessions',
  global: 'Signed out everywhere',
} as const;

@ApiTags('auth')
@ApiSecurity({ apikey: [], bearer: [] })
@ApiParam({ name: 'project_id', type: String })
@ApiAuthErrors(401, 500)
@Controller('v1/auth/:project_id')
@UseGuards(ApiKeyGuard, BearerGuard)
@UseInterceptors(JsonBodyInterceptor)
export class UserController {
  constructor(
    private readonly profiles: ProfileService,
    private readonly sessions: SessionService,
  ) {}

  @Get('user')
  @UseGuards(UserGuard)
  @ApiOperation({ operationId: 'getUser', summary: 'Get the signed-in user' })
  @ApiResponse({ status: 200, description: 'The user', type: UserAnswerDto })
  async get(
    @CurrentProject() project: Project,
    @CurrentTokenUser() { userId, sessionId }: TokenUser,
  ): Promise<UserAnswerDto> {
    return { user: toUserView(await this.profiles.get(project, userId, sessionId)) };
  }

  @Patch('user')
  @UseGuards(SessionGuard)
  @ApiOperation({ operationId: 'updateUser', summary: 'Change your name, email, password or data' })
  @ApiResponse({ status: 200, description: 'The changed user', type: UserAnswerDto })
  @ApiAuthErrors(400, 403, 429)
  async update(
    @CurrentProject() project: Project,
    @CurrentSession() owner: SessionOwner,
    @Body() { name, email, password, current_password: currentPassword, data }: UpdateUserDto,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<UserAnswerDto> {
    const input = { name, email, password, currentPassword, data };
    // A null means the same as an absent member.
    const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null));
    return { user: toUserView(await this.profiles.update(project, owner, given, origin)) };
  }

  @Post('logout')
  @UseGuards(SessionGuard)
  @HttpCode(200)
  @ApiBody({ type: LogoutDto, required: false })
  @ApiOperation({ operationId: 'signOut', summary: 'Sign out; effective at once on all replicas' })
  @ApiResponse({ status: 200, description: 'The sessions of the scope have been ended', type: MessageDto })
  @ApiAuthErrors(400)
  async signOut(
    @CurrentProject() project: Project,
    @CurrentSession() owner: SessionOwner,
    @Body() body: LogoutDto,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<MessageDto> {
    const scope = body.scope ?? 'local';
    await this.sessions.signOut(project, owner, scope, origin);
    return { message: LOGOUT_MESSAGES[scope] };
  }

  @Get('sessions')
  @UseGuards(SessionGuard)
  @ApiOperation({ operationId: 'listSessions', summary: 'List your sessions' })
  @ApiResponse({ status: 200, description: 'Live sessions, the newest first', type: SessionsDto })
  async listSessions(
    @CurrentProject() project: Project,
    @CurrentSession() owner: SessionOwner,
  ): Promise<SessionsDto> {
    const sessions = await this.sessions.list(project, owner);
    return {
      sessions: sessions.map((session) => ({
        id: session.id,
        created_at: session.createdAt.toISOString(),
        last_seen_at: session.refreshedAt.toISOString(),
        expires_at: session.expiresAt.toISOString(),
        ip: session.ip,
        user_agent: session.userAgent,
        current: session.id === owner.sessionId.toLowerCase(),
      })),
    };
  }

  @Delete('sessions/:session_id')
  @UseGuards(SessionGuard)
  @ApiOperation({ operationId: 'revokeSession', summary: 'End one of your sessions' })
  @ApiResponse({ status: 200, description: 'The session has been ended', type: MessageDto })
  @ApiAuthErrors(404)
  async revokeSession(
    @CurrentProject() project: Project,
    @CurrentSession() owner: SessionOwner,
    @Param('session_id') id: string,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<MessageDto> {
    await this.sessions.revoke(project, owner, id, origin);
    return { message: 'The session has been ended' };
  }
}
