/** Platform administration: what goes on in a project's database. */
import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiQuery } from '@nestjs/swagger';
import { invalidParameters } from '../../common/errors/http-errors';
import { Answer } from '../../http/docs/answer.decorator';
import { PlatformErrors } from '../../http/errors/platform-error-docs';
import { StrictQuery } from '../../http/input/strict-input.decorator';
import { Actor, AuditLogRepository } from '../../install/audit/audit-log.repository';
import { ProjectsService } from '../../projects/projects.service';
import { DatabaseActivity, SessionSignal, SlowQueries } from '../activity/database-activity';
import { DatabaseActivityService, Signal } from '../activity/database-activity.service';
import { SlowQueriesRepository } from '../activity/slow-queries.repository';
import { sessionNotFound } from '../admin.errors';
import { CurrentActor } from '../../staff/http/current-staff.decorator';
import { PROJECT_ERRORS, ProjectIdParam, StaffApi } from '../../staff/http/staff-api.decorator';
import { ListSlowQueriesQuery } from './dto/activity.dto';

const DEFAULT_LIMIT = 50;

const PidParam = (): MethodDecorator =>
  ApiParam({
    name: 'pid',
    type: 'integer',
    description: 'The process id in PostgreSQL, from the activity',
    example: 4711,
  });

@StaffApi()
@Controller('admin/v1/projects/:id/database')
export class ProjectActivityController {
  constructor(
    private readonly projects: ProjectsService,
    private readonly activity: DatabaseActivityService,
    private readonly slow: SlowQueriesRepository,
    private readonly audit: AuditLogRepository,
  ) {}

  @Get('activity')
  @ApiOperation({
    operationId: 'getDatabaseActivity',
    summary: "List the sessions and locks of a project's database, and which sessions block others",
    description:
      'Statements are shown as they were sent, so they may hold data. Sessions of a superuser, which Plinth uses for its own administration, are left out.',
  })
  @ProjectIdParam()
  @Answer(200, 'The current activity', DatabaseActivity)
  @PlatformErrors(PROJECT_ERRORS)
  async read(@Param('id') id: string): Promise<DatabaseActivity> {
    return this.activity.read(await this.projects.get(id));
  }

  @Post('activity/:pid/cancel')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'cancelDatabaseQuery',
    summary: 'Cancel the statement that a session runs; its transaction fails',
    description: 'A session that is idle in a transaction runs no statement: terminate it instead.',
  })
  @ProjectIdParam()
  @PidParam()
  @Answer(200, 'The outcome', SessionSignal)
  @PlatformErrors(sessionNotFound(), PROJECT_ERRORS)
  async cancel(
    @Param('id') id: string,
    @Param('pid') pid: string,
    @CurrentActor() actor: Actor,
  ): Promise<SessionSignal> {
    const answer = await this.send(id, pid, 'cancel');
    await this.audit.write({ action: 'project.session.cancel', actor, projectId: id, details: { pid } });
    return answer;
  }

  @Post('activity/:pid/terminate')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'terminateDatabaseSession',
    summary: "End a session of a project's database; its transaction is rolled back",
    description: "Plinth's own connections are opened again when they are needed.",
  })
  @ProjectIdParam()
  @PidParam()
  @Answer(200, 'The outcome', SessionSignal)
  @PlatformErrors(sessionNotFound(), PROJECT_ERRORS)
  async terminate(
    @Param('id') id: string,
    @Param('pid') pid: string,
    @CurrentActor() actor: Actor,
  ): Promise<SessionSignal> {
    const answer = await this.send(id, pid, 'terminate');
    await this.audit.write({ action: 'project.session.terminate', actor, projectId: id, details: { pid } });
    return answer;
  }

  @Get('slow-queries')
  @ApiOperation({
    operationId: 'listSlowQueries',
    summary: "List the statements of a project's database that took the most time",
    description:
      'From pg_stat_statements, which the embedded PostgreSQL includes; on other servers `reason` says what is missing.',
  })
  @ProjectIdParam()
  @ApiQuery({ type: ListSlowQueriesQuery })
  @Answer(200, 'The statements', SlowQueries)
  @PlatformErrors(invalidParameters('limit must not be greater than 200'), PROJECT_ERRORS)
  async slowQueries(
    @Param('id') id: string,
    @StrictQuery() { order = 'total', limit = DEFAULT_LIMIT }: ListSlowQueriesQuery,
  ): Promise<SlowQueries> {
    return this.slow.list(await this.projects.get(id), order, limit);
  }

  /** Text that is no pid is answered like a session that does not exist. */
  private async send(id: string, pid: string, signal: Signal): Promise<SessionSignal> {
    const project = await this.projects.get(id);
    if (!/^[1-9]\d{0,8}$/.test(pid)) throw sessionNotFound();
    return { pid: Number(pid), done: await this.activity.signal(project, Number(pid), signal) };
  }
}
