/** The first owner of an installation. */
import { Controller, Get, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { rateLimited } from '../../access/access.errors';
import { PublicRoute } from '../../access/public-route.decorator';
import type { RequestOrigin } from '../../identity/request-origin';
import { invalidEmail } from '../../identity/identity.errors';
import { CurrentOrigin } from '../../identity/http/current-origin.decorator';
import { tooShortPassword } from '../../identity/passwords/password-policy';
import { invalidParameters } from '../../common/errors/app-error';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { tooManyHeaders } from '../../http/request-head';
import { Actor, AuditLogRepository } from '../../install/audit/audit-log.repository';
import { SetupService } from '../setup/setup.service';
import { staffMemberExists, setupOver, setupTokenInvalid } from '../staff.errors';
import { SetupDto } from './dto/staff-inputs.dto';
import { SetupLinkResponse, SetupNeededResponse, StaffSessionResponse } from './dto/staff-responses';
import { PublicStaffApi, StaffAccess, CurrentActor } from './staff-api.decorator';
import { SESSION_HEADERS, SessionResponses } from './session-responses.service';
import { Answer, Describe, Errors } from '../../http/docs/operation.decorators';

@PublicStaffApi()
@Controller('admin/v1/setup')
export class SetupController {
  constructor(
    private readonly setup: SetupService,
    private readonly responses: SessionResponses,
  ) {}

  @Get()
  @PublicRoute('it tells only whether the installation has an owner')
  @Describe(`Whether the installation still needs its first owner
    Needs no credential.`)
  @Answer(200, 'Whether the first owner is missing', SetupNeededResponse)
  @Errors(tooManyHeaders())
  async getSetup(): Promise<SetupNeededResponse> {
    return { needed: await this.setup.isNeeded() };
  }

  @Post()
  @PublicRoute('the set-up link in the body is the credential')
  @Describe(`Create the first owner with the set-up link, and sign them in
    The link is printed when a server without an owner starts, and by \`plinth setup-link\`. It works once, within one day. All links end when the first owner is created.`)
  @Answer(201, 'The session of the owner, with its cookie', StaffSessionResponse, SESSION_HEADERS)
  @Errors(invalidParameters('name must not be blank'), invalidEmail(), tooShortPassword())
  @Errors(setupTokenInvalid(), setupOver(), staffMemberExists(), rateLimited(60))
  async createFirstOwner(
    @StrictBody() body: SetupDto,
    @CurrentOrigin() origin: RequestOrigin,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StaffSessionResponse> {
    return this.responses.begun(await this.setup.createOwner(body, origin), response);
  }
}

@StaffAccess()
@Controller('admin/v1/setup/link')
export class SetupLinkController {
  constructor(
    private readonly setup: SetupService,
    private readonly audit: AuditLogRepository,
  ) {}

  @Post()
  @Describe(`Make a set-up link for the first owner
    Refused once there is an owner; until then, use PLATFORM_ADMIN_KEY. Earlier links stay valid until they expire.`)
  @Answer(201, 'The link', SetupLinkResponse)
  @Errors(setupOver())
  async createSetupLink(@CurrentActor() actor: Actor): Promise<SetupLinkResponse> {
    const { link, expiresAt } = await this.setup.makeLink();
    await this.audit.write({ actor, action: 'setup.link', projectId: null });
    return { link, expires_at: expiresAt };
  }
}
