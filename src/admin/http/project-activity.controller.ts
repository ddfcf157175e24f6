/** Platform administration: the activity of a project's database. */
import { Controller, Get, Param, Post } from '@nestjs/common';
import { invalidParameters } from '../../common/errors/app-error';
import { StrictQuery } from '../../http/input/strict-input.decorator';
import { Actor, AuditLogRepository } from '../../install/audit/audit-log.repository';
import { ProjectsService } from '../../projects/projects.service';
import { DatabaseActivity, SessionSignal, SlowQueries } from '../activity/database-activity';
import { DatabaseActivityService, Signal } from '../activity/database-activity.service';
import { SlowQueriesRepository, SLOW_ORDERS } from '../activity/slow-queries.repository';
import { sessionNotFound } from '../admin.errors';
import { StaffApi, CurrentActor } from '../../staff/http/staff-api.decorator';
import { Answer, Describe, Errors, PathErrors } from '../../http/docs/operation.decorators';
import * as f from '../../http/model/fields';

class ListSlowQueriesQuery extends f.model({
  order: f.optional.choice(SLOW_ORDERS, 'The largest first; default: total'),
  limit: f.optional.digits(1, 200, 'Default: 50'),
}) {}

const DEFAULT_LIMIT = 50;

@StaffApi()
@PathErrors({ ':pid': sessionNotFound() })
@Controller('admin/v1/projects/:id/database')
export class ProjectActivityController {
  constructor(
    private readonly projects: ProjectsService,
    private readonly activity: DatabaseActivityService,
    private readonly slow: SlowQueriesRepository,
    private readonly audit: AuditLogRepository,
  ) {}

  @Get('activity')
  @Describe(`List the sessions and locks of a project's database, and which sessions block others
    Statements are shown as they were sent, so they may hold data. Sessions of a superuser, which Plinth uses for its own administration, are left out.`)
  @Answer(200, 'The current activity', DatabaseActivity)
  async getDatabaseActivity(@Param('id') id: string): Promise<DatabaseActivity> {
    return this.activity.read(await this.projects.get(id));
  }

  @Post('activity/:pid/cancel')
  @Describe(`Cancel the statement that a session runs; its transaction fails
    A session that is idle in a transaction runs no statement: terminate it instead.`)
  @Answer(200, 'The outcome', SessionSignal)
  async cancelDatabaseQuery(
    @Param('id') id: string,
    @Param('pid') pid: string,
    @CurrentActor() actor: Actor,
  ): Promise<SessionSignal> {
    const answer = await this.send(id, pid, 'cancel');
    await this.audit.write({ action: 'project.session.cancel', actor, projectId: id, details: { pid } });
    return answer;
  }

  @Post('activity/:pid/terminate')
  @Describe(`End a session of a project's database; its transaction is rolled back
    Plinth's own connections are opened again when they are needed.`)
  @Answer(200, 'The outcome', SessionSignal)
  async terminateDatabaseSession(
    @Param('id') id: string,
    @Param('pid') pid: string,
    @CurrentActor() actor: Actor,
  ): Promise<SessionSignal> {
    const answer = await this.send(id, pid, 'terminate');
    await this.audit.write({ action: 'project.session.terminate', actor, projectId: id, details: { pid } });
    return answer;
  }

  @Get('slow-queries')
  @Describe(`List the statements of a project's database that took the most time
    From pg_stat_statements, which the embedded PostgreSQL includes; on other servers \`reason\` says what is missing.`)
  @Answer(200, 'The statements', SlowQueries)
  @Errors(invalidParameters('limit must not be greater than 200'))
  async listSlowQueries(
    @Param('id') id: string,
    @StrictQuery() { order = 'total', limit = DEFAULT_LIMIT }: ListSlowQueriesQuery,
  ): Promise<SlowQueries> {
    return this.slow.list(await this.projects.get(id), order, limit);
  }

  /** Text that is not a process id is answered like a session that does not exist. */
  private async send(id: string, pid: string, signal: Signal): Promise<SessionSignal> {
    const project = await this.projects.get(id);
    if (!/^[1-9]\d{0,8}$/.test(pid)) throw sessionNotFound();
    return { pid: Number(pid), done: await this.activity.signal(project, Number(pid), signal) };
  }
}
