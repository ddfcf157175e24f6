/** The sessions of a staff member: on which browsers they are signed in. */
import { Controller, Delete, Get, Param } from '@nestjs/common';
import type { RequestOrigin } from '../../identity/request-origin';
import { CurrentOrigin } from '../../identity/http/current-origin.decorator';
import type { StaffMember } from '../accounts/staff-member';
import type { StaffCaller } from '../roles/staff';
import { StaffSignIn } from '../sessions/staff-sign-in.service';
import { sessionNotFound } from '../../identity/identity.errors';
import { StaffSessionInfoResponse } from './dto/staff-responses';
import { StaffSessionGuard } from './staff.guard';
import { StaffApi, CurrentStaffMember, CurrentStaff } from './staff-api.decorator';
import { Answer, Describe, Errors } from '../../http/docs/operation.decorators';

// Nest runs the guards of the lower decorator first.
@StaffApi(StaffSessionGuard)
@Controller('admin/v1/sessions')
export class StaffSessionsController {
  constructor(private readonly signIn: StaffSignIn) {}

  @Get()
  @Describe(`List your sessions, the most recently used first
    Needs a session.`)
  @Answer(200, 'The sessions', [StaffSessionInfoResponse])
  async listStaffSessions(
    @CurrentStaff() { session }: StaffCaller,
    @CurrentStaffMember() member: StaffMember,
  ): Promise<StaffSessionInfoResponse[]> {
    const records = await this.signIn.listSessions(member);
    return records.map((one) => ({
      id: one.id,
      is_current: one.id === session?.id,
      created_at: one.createdAt,
      last_used_at: one.lastUsedAt,
      expires_at: one.expiresAt,
      address: one.address,
      user_agent: one.userAgent,
    }));
  }

  @Delete(':id')
  @Describe(`End one of your sessions
    Needs a session.`)
  @Answer(204, 'The session has ended')
  @Errors(sessionNotFound())
  async endStaffSession(
    @CurrentStaffMember() member: StaffMember,
    @Param('id') id: string,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<void> {
    await this.signIn.endSession(member, id, origin);
  }
}
