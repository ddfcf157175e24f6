/** Invitations to accounts. */
import { Controller, Delete, Get, Param, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { rateLimited } from '../../access/access.errors';
import { PublicRoute } from '../../access/public-route.decorator';
import type { RequestOrigin } from '../../identity/request-origin';
import { invalidEmail } from '../../identity/identity.errors';
import { tooShortPassword } from '../../identity/passwords/password-policy';
import { CurrentOrigin } from '../../identity/http/current-origin.decorator';
import { invalidParameters } from '../../common/errors/app-error';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { Actor } from '../../install/audit/audit-log.repository';
import { projectNotFound } from '../../projects/projects.errors';
import { InvitationService } from '../invitations/invitation.service';
import type { StaffCaller } from '../roles/staff';
import { alreadyInvited, invitationInvalid, invitationNotFound, staffMemberExists } from '../staff.errors';
import { AcceptInvitationDto, InviteDto } from './dto/staff-inputs.dto';
import { CreatedInvitationResponse, InvitationResponse, StaffSessionResponse } from './dto/staff-responses';
import { SESSION_HEADERS, SessionResponses } from './session-responses.service';
import { PublicStaffApi, StaffApi, CurrentActor, CurrentStaff } from './staff-api.decorator';
import { toInvitationView } from './staff-views';
import { Answer, Describe, Errors } from '../../http/docs/operation.decorators';
import type { ErrorList } from '../../http/docs/error-docs';

const INVITATION_ERRORS: ErrorList = [
  invalidParameters('projects must be an array'),
  invalidEmail(),
  projectNotFound(),
  staffMemberExists(),
];

@StaffApi()
@Controller('admin/v1/invitations')
export class InvitationsController {
  constructor(private readonly invitations: InvitationService) {}

  @Get()
  @Describe(`List open invitations, the newest first
    Needs a role of the installation, or the role admin in a project. Administrators of projects see only invitations to their projects.`)
  @Answer(200, 'The invitations', [InvitationResponse])
  async listInvitations(@CurrentStaff() staff: StaffCaller): Promise<InvitationResponse[]> {
    return (await this.invitations.list(staff)).map(toInvitationView);
  }

  @Post()
  @Describe(`Invite by mail
    Needs the role operator; to invite an owner, the role owner; to invite to projects only, the role admin in each of them. The link works once, for seven days. Invitations end when the role of the staff member who made them changes. Invitations of one staff member, and those to one address, are limited (429).`)
  @Answer(201, 'The invitation', CreatedInvitationResponse)
  @Errors(INVITATION_ERRORS)
  @Errors(alreadyInvited(), rateLimited(60))
  async createInvitation(
    @CurrentStaff() staff: StaffCaller,
    @StrictBody() { email, role, projects }: InviteDto,
    @CurrentActor() actor: Actor,
  ): Promise<CreatedInvitationResponse> {
    const request = { email, role: role ?? null, projects: projects ?? [] };
    const { invitation, link, mailed } = await this.invitations.create(staff, request, actor);
    return { ...toInvitationView(invitation), link, mailed };
  }

  @Delete(':id')
  @Describe(`Withdraw an invitation
    Needs the role operator, or the role admin in all of its projects.`)
  @Answer(204, 'Its link no longer works')
  @Errors(invitationNotFound())
  async deleteInvitation(
    @CurrentStaff() staff: StaffCaller,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.invitations.remove(staff, id, actor);
  }
}

@PublicStaffApi()
@Controller('admin/v1/invitations/accept')
export class InvitationAcceptanceController {
  constructor(
    private readonly invitations: InvitationService,
    private readonly responses: SessionResponses,
  ) {}

  @Post()
  @PublicRoute('the mailed token in the body is the credential')
  @Describe(`Accept an invitation and sign in
    Needs no other credential. The token works once.`)
  @Answer(201, 'The session, with its cookie', StaffSessionResponse, SESSION_HEADERS)
  @Errors(invalidParameters('name must not be blank'), tooShortPassword(), invitationInvalid())
  @Errors(staffMemberExists(), rateLimited(60))
  async acceptInvitation(
    @StrictBody() body: AcceptInvitationDto,
    @CurrentOrigin() origin: RequestOrigin,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StaffSessionResponse> {
    return this.responses.begun(await this.invitations.accept(body, origin), response);
  }
}
