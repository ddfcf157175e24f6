/** Platform administration: tables of a project's database, SQL, and how to connect. */
import { Controller, Get, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import { Actor } from '../../install/audit/audit-log.repository';
import { ProjectAdminService } from '../../projects/project-admin.service';
import { AdminApi, PROJECT_ERRORS, ProjectParam } from '../../admin/http/admin-api.decorator';
import { CurrentActor } from '../../admin/http/current-actor.decorator';
import { DatabaseAccess, SqlAnswer, TableRecord } from '../../admin/admin-records';
import { SqlDto } from '../../projects/http/dto/projects.dto';
import { answerJson } from '../answer-json';
import { ClientLeftError, sendChunks } from '../../http/send-chunks';
import { clientLeft } from '../../http/client-left';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { Answer, JsonBody } from '../../http/docs/answer.decorator';
import {
  bodyNotJson,
  bodyTooSlow,
  bodyTooLarge,
  mediaTypeNotJson,
  bodyIsEncoded,
  noMemoryForBody,
} from '../../http/bodies/body.errors';
import { projectNotFound } from '../../projects/projects.errors';
import { PlatformErrors } from '../../http/errors/platform-error-docs';
import { SqlErrors, SQL_FAILURES, SERVER_FAILURE } from './sql-error-docs';
import { STAFF_REFUSALS } from '../../staff/http/staff-api.decorator';
import { internalError, databaseUnreachable } from '../../common/errors/http-errors';
import { MAX_JSON_BODY } from '../../http/bodies/body-reader';

const JSON_TYPE = 'application/json; charset=utf-8';
const DEFAULT_TIMEOUT_SECONDS = 60;
const DEFAULT_MAX_ROWS = 10_000;

@AdminApi()
@Controller('admin/v1/projects/:id')
export class ProjectDatabaseController {
  constructor(private readonly projects: ProjectAdminService) {}

  @Get('database')
  @ApiOperation({
    operationId: 'getProjectDatabase',
    summary: "Get the owner's connection to a project's database, for psql and migration tools",
    description:
      'The password is that of the role that owns the database. Each access is recorded in the audit log.',
  })
  @ProjectParam()
  @Answer(200, 'The connection', DatabaseAccess)
  @PlatformErrors(PROJECT_ERRORS)
  database(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<DatabaseAccess> {
    return this.projects.database(id, actor);
  }

  @Post('sql')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'runProjectSql',
    summary: "Run SQL as the owner of a project's database, in one transaction",
    description:
      'Several statements may be separated by semicolons; the rows are those of the last one. If one fails, or the client disconnects, all are rolled back. The audit log records the kinds of the statements, not their text.',
  })
  @ProjectParam()
  @JsonBody(SqlDto)
  @Answer(200, 'The SQL was run', SqlAnswer)
  @SqlErrors(SQL_FAILURES, SERVER_FAILURE, bodyNotJson(), noMemoryForBody(), databaseUnreachable())
  @PlatformErrors(
    bodyTooSlow(),
    bodyTooLarge(MAX_JSON_BODY),
    mediaTypeNotJson(),
    bodyIsEncoded('gzip'),
    projectNotFound(),
    STAFF_REFUSALS,
    internalError(),
  )
  async sql(
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
  @ApiOperation({
    operationId: 'listProjectTables',
    summary: 'List tables with row-level security on or off',
    description: 'All schemas except those of Plinth and of PostgreSQL.',
  })
  @ProjectParam()
  @Answer(200, 'The tables, by schema and name', [TableRecord])
  @PlatformErrors(PROJECT_ERRORS)
  tables(@Param('id') id: string): Promise<TableRecord[]> {
    return this.projects.tables(id);
  }
}
