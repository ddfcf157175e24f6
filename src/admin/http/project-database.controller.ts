/** Platform administration: tables of a project's database, SQL, and how to connect. */
import { Controller, Get, Param, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Actor } from '../../projects/audit-log.repository';
import { ProjectAdminService } from '../project-admin.service';
import { AdminApi } from './admin-api.decorator';
import { CurrentActor } from './current-actor.decorator';
import { DatabaseAccess, SqlAnswer, TableRecord } from '../admin-records';
import { SqlDto } from './dto/projects.dto';
import { answerJson } from '../answer-json';
import { ClientLeftError, sendChunks } from '../../http/send-chunks';
import { clientLeft } from '../../http/client-left';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { SqlErrors, SQL_FAILURES, SERVER_FAILURE } from './sql-error-docs';
import { Answer, Describe } from '../../http/docs/operation.decorators';

const JSON_TYPE = 'application/json; charset=utf-8';
const DEFAULT_TIMEOUT_SECONDS = 60;
const DEFAULT_MAX_ROWS = 10_000;

@AdminApi()
@Controller('admin/v1/projects/:id')
export class ProjectDatabaseController {
  constructor(private readonly projects: ProjectAdminService) {}

  @Get('database')
  @Describe(`Get the owner's connection to a project's database, for psql and migration tools
    The password is that of the role that owns the database. Each access is recorded in the audit log.`)
  @Answer(200, 'The connection', DatabaseAccess)
  getProjectDatabase(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<DatabaseAccess> {
    return this.projects.database(id, actor);
  }

  @Post('sql')
  @Describe(`Run SQL as the owner of a project's database, in one transaction
    Several statements may be separated by semicolons; the rows are those of the last one. If one fails, or the client disconnects, all are rolled back. The audit log records the kinds of the statements, not their text.`)
  @Answer(200, 'The SQL was run', SqlAnswer)
  @SqlErrors(SQL_FAILURES, SERVER_FAILURE)
  async runProjectSql(
    @Param('id') id: string,
    @StrictBody() body: SqlDto,
    @CurrentActor() actor: Actor,
    @Res() response: Response,
  ): Promise<void> {
    const limits = {
      timeoutSeconds: body.timeout_seconds ?? DEFAULT_TIMEOUT_SECONDS,
      maxRows: body.max_rows ?? DEFAULT_MAX_ROWS,
      allResults: body.all_results ?? false,
      abandoned: clientLeft(response),
    };
    const answer = await this.projects.sql(id, body.query, limits, actor);
    await sendChunks(response, 200, { 'Content-Type': JSON_TYPE }, answerJson(answer)).catch(
      (error: unknown) => {
        if (!(error instanceof ClientLeftError)) throw error;
      },
    );
  }

  @Get('tables')
  @Describe(`List tables with row-level security on or off
    All schemas except those of Plinth and of PostgreSQL.`)
  @Answer(200, 'The tables, by schema and name', [TableRecord])
  listProjectTables(@Param('id') id: string): Promise<TableRecord[]> {
    return this.projects.tables(id);
  }
}
