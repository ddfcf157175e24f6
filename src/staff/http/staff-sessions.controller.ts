/** The sessions of a person: on which browsers they are signed in. */
import { Controller, Delete, Get, HttpCode, Param, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse } from '@nestjs/swagger';
import type { RequestOrigin } from '../../identity/request-origin';
import { CurrentOrigin } from '../../identity/http/current-origin.decorator';
import { Answer } from '../../http/docs/answer.decorator';
import { UUID_EXAMPLE } from '../../http/docs/documented-types';
import { PlatformErrors } from '../../http/errors/platform-error-docs';
import type { Person } from '../accounts/person';
import type { Staff } from '../roles/staff';
import { StaffSignIn } from '../sessions/staff-sign-in.service';
import { sessionNotFound, sessionRequired } from '../staff.errors';
import { CurrentPerson, CurrentStaff } from './current-staff.decorator';
import { StaffSessionRecordDto } from './dto/staff-records.dto';
import { StaffSessionGuard } from './person.guards';
import { StaffApi, STAFF_ERRORS } from './staff-api.decorator';

// Nest runs the guard of the lower decorator first.
@UseGuards(StaffSessionGuard)
@StaffApi()
@Controller('admin/v1/sessions')
export class StaffSessionsController {
  constructor(private readonly signIn: StaffSignIn) {}

  @Get()
  @ApiOperation({
    operationId: 'listStaffSessions',
    summary: 'List your sessions, the most recently used first',
    description: 'Needs a session.',
  })
  @Answer(200, 'The sessions', [StaffSessionRecordDto])
  @PlatformErrors(sessionRequired(), STAFF_ERRORS)
  async list(
    @CurrentStaff() { session }: Staff,
    @CurrentPerson() person: Person,
  ): Promise<StaffSessionRecordDto[]> {
    const records = await this.signIn.listSessions(person);
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
  @HttpCode(204)
  @ApiOperation({
    operationId: 'endStaffSession',
    summary: 'End one of your sessions',
    description: 'Needs a session.',
  })
  @ApiParam({ name: 'id', type: String, description: 'The id of the session', example: UUID_EXAMPLE })
  @ApiResponse({ status: 204, description: 'The session has ended' })
  @PlatformErrors(sessionNotFound(), sessionRequired(), STAFF_ERRORS)
  async end(
    @CurrentPerson() person: Person,
    @Param('id') id: string,
    @CurrentOrigin() origin: RequestOrigin,
  ): Promise<void> {
    await this.signIn.endSession(person, id, origin);
  }
}
