/** Invitations to accounts. */
import {
  Controller,
  Delete,
  Get,
  HttpCode,
  Param,
  Post,
  Res,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { rateLimited } from '../../access/access.errors';
import { PublicRoute } from '../../access/public-route.decorator';
import type { RequestOrigin } from '../../auth/audit/request-origin';
import { invalidEmail } from '../../auth/auth.errors';
import { tooShortPassword } from '../../auth/http/auth-docs.decorator';
import { CurrentOrigin } from '../../auth/http/current-origin.decorator';
import { invalidParameters } from '../../common/errors/http-errors';
import { JsonBodyInterceptor } from '../../http/bodies/json-body.interceptor';
import { Answer, JsonBody } from '../../http/docs/answer.decorator';
import { UUID_EXAMPLE } from '../../http/docs/documented-types';
import { JSON_BODY_ERRORS, SERVER_ERRORS } from '../../http/docs/standard-errors';
import { PlatformErrors } from '../../http/errors/platform-error-docs';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { Actor } from '../../projects/audit-log.repository';
import { projectNotFound } from '../../projects/projects.errors';
import { InvitationService } from '../invitations/invitation.service';
import type { Staff } from '../roles/staff';
import { SessionCookies } from '../sessions/session-cookies.service';
import { StaffSessions } from '../sessions/staff-session.service';
import {
  alreadyInvited,
  foreignOrigin,
  invitationInvalid,
  invitationNotFound,
  personExists,
} from '../staff.errors';
import { CurrentActor, CurrentStaff } from './current-staff.decorator';
import { AcceptInvitationDto, InviteDto } from './dto/staff-inputs.dto';
import { CreatedInvitationDto, InvitationDto, StaffSessionDto } from './dto/staff-records.dto';
import { OwnOriginGuard } from './own-origin.guard';
import { SESSION_HEADERS } from './session-headers';
import { StaffApi, STAFF_ERRORS } from './staff-api.decorator';
import { toInvitationView, toSessionView } from './staff-views';

@StaffApi()
@Controller('admin/v1/invitations')
export class InvitationsController {
  constructor(private readonly invitations: InvitationService) {}

  @Get()
  @ApiOperation({
    operationId: 'listInvitations',
    summary: 'List open invitations, the newest first',
    description:
      'Needs a role of the installation, or the role admin in a project. Administrators of projects see only invitations to their projects.',
  })
  @Answer(200, 'The invitations', [InvitationDto])
  @PlatformErrors(STAFF_ERRORS)
  async list(@CurrentStaff() staff: Staff): Promise<InvitationDto[]> {
    return (await this.invitations.list(staff)).map(toInvitationView);
  }

  @Post()
  @HttpCode(201)
  @ApiOperation({
    operationId: 'createInvitation',
    summary: 'Invite a person by mail',
    description:
      'Needs the role operator; to invite an owner, the role owner; to invite to projects only, the role admin in each of them. The link works once, for seven days. Invitations end when the role of the person who made them changes. Invitations of one person, and those to one address, are limited (429).',
  })
  @JsonBody(InviteDto)
  @Answer(201, 'The invitation', CreatedInvitationDto)
  @PlatformErrors(
    invalidParameters('projects must be an array'),
    invalidEmail(),
    projectNotFound(),
    personExists(),
    alreadyInvited(),
    rateLimited(60),
    JSON_BODY_ERRORS,
    STAFF_ERRORS,
  )
  async create(
    @CurrentStaff() staff: Staff,
    @StrictBody() { email, role, projects }: InviteDto,
    @CurrentActor() actor: Actor,
  ): Promise<CreatedInvitationDto> {
    const request = { email, role: role ?? null, projects: projects ?? [] };
    const { invitation, link } = await this.invitations.create(staff, request, actor);
    return { ...toInvitationView(invitation), link };
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'deleteInvitation',
    summary: 'Withdraw an invitation',
    description: 'Needs the role operator, or the role admin in all of its projects.',
  })
  @ApiParam({ name: 'id', type: String, description: 'The id of the invitation', example: UUID_EXAMPLE })
  @ApiResponse({ status: 204, description: 'Its link no longer works' })
  @PlatformErrors(invitationNotFound(), STAFF_ERRORS)
  async remove(
    @CurrentStaff() staff: Staff,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.invitations.remove(staff, id, actor);
  }
}

@Controller('admin/v1/invitations/accept')
@ApiTags('admin')
@UseGuards(OwnOriginGuard)
@UseInterceptors(JsonBodyInterceptor)
export class InvitationAcceptanceController {
  constructor(
    private readonly invitations: InvitationService,
    private readonly sessions: StaffSessions,
    private readonly cookies: SessionCookies,
  ) {}

  @Post()
  @HttpCode(201)
  @PublicRoute('the mailed token in the body is the credential')
  @ApiOperation({
    operationId: 'acceptInvitation',
    summary: 'Accept an invitation and sign in',
    description: 'Needs no other credential. The token works once.',
  })
  @JsonBody(AcceptInvitationDto)
  @Answer(201, 'The session, with its cookie', StaffSessionDto, SESSION_HEADERS)
  @PlatformErrors(
    invalidParameters('name must not be blank'),
    tooShortPassword(),
    invitationInvalid(),
    personExists(),
    foreignOrigin(),
    rateLimited(60),
    JSON_BODY_ERRORS,
    SERVER_ERRORS,
  )
  async accept(
    @StrictBody() body: AcceptInvitationDto,
    @CurrentOrigin() origin: RequestOrigin,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StaffSessionDto> {
    const { identity, session } = await this.invitations.accept(body, origin);
    this.cookies.write(response, session);
    return toSessionView({ identity, session, token: null }, this.sessions.csrfToken(session.id));
  }
}
