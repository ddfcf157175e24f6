/** Live sessions of a project's users, for administrators. */
import { Controller, Get, Param, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiSecurity, ApiTags } from '@nestjs/swagger';
import { ApiKeyGuard } from '../../access/api-key.guard';
import { BearerGuard } from '../../access/bearer.guard';
import { CurrentProject } from '../../access/current-caller.decorator';
import { ServiceRoleGuard } from '../../access/service-role.guard';
import type { Project } from '../../projects/project';
import { AdminSessionsRepository } from '../admin/admin-sessions.repository';
import { AdminSessionsDto } from './dto/admin-answers.dto';
import { Answer } from '../../http/docs/answer.decorator';
import { toSessionFacts } from './session-view';
import { AuthErrors, SERVICE_ERRORS, ProjectIdParam, IdParam } from './auth-docs.decorator';

@ApiTags('auth')
@ApiSecurity({ apikey: [], bearer: [] })
@ProjectIdParam()
@Controller('v1/auth/:project_id/admin/users/:user_id/sessions')
@UseGuards(ApiKeyGuard, BearerGuard, ServiceRoleGuard)
export class AdminSessionsController {
  constructor(private readonly sessions: AdminSessionsRepository) {}

  @Get()
  @ApiOperation({
    operationId: 'adminListSessions',
    summary: "List a user's active sessions",
    description:
      'Needs the service-role key, as apikey or as bearer. At most 100. The list is empty for an unknown or banned user.',
  })
  @IdParam('user_id', 'The id of the user')
  @Answer(200, 'The sessions, most recently refreshed first', AdminSessionsDto)
  @AuthErrors(SERVICE_ERRORS)
  async list(
    @CurrentProject() project: Project,
    @Param('user_id') userId: string,
  ): Promise<AdminSessionsDto> {
    const sessions = await this.sessions.list(project, userId);
    return {
      sessions: sessions.map((session) => ({ ...toSessionFacts(session), aal: session.aal })),
    };
  }
}
