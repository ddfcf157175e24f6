/** Live sessions of a project's users, for administrators. */
import { Controller, Get, Param } from '@nestjs/common';
import { CurrentProject } from '../../access/current-caller.decorator';
import type { Project } from '../../projects/project';
import { AdminSessionsRepository } from '../admin/admin-sessions.repository';
import { AdminSessionsResponse } from './dto/admin-responses';
import { toSessionFacts } from './dto/auth-responses';
import { AuthApi } from './auth-docs.decorator';
import { Answer, Describe } from '../../http/docs/operation.decorators';

@AuthApi('service_role')
@Controller('v1/auth/:project_id/admin/users/:user_id/sessions')
export class AdminSessionsController {
  constructor(private readonly sessions: AdminSessionsRepository) {}

  @Get()
  @Describe(`List a user's active sessions
    Needs the service-role key, as apikey or as bearer. At most 100. The list is empty for an unknown or banned user.`)
  @Answer(200, 'The sessions, most recently refreshed first', AdminSessionsResponse)
  async adminListSessions(
    @CurrentProject() project: Project,
    @Param('user_id') userId: string,
  ): Promise<AdminSessionsResponse> {
    const sessions = await this.sessions.list(project, userId);
    return {
      sessions: sessions.map((session) => ({ ...toSessionFacts(session), aal: session.aal })),
    };
  }
}
