/** Platform administration: tables of a project's database, SQL, and how to connect. */
import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiResponse } from '@nestjs/swagger';
import { PlatformError } from '../../http/errors/platform-error.dto';
import { Actor } from '../../projects/audit-log.repository';
import { ProjectAdminService } from '../project-admin.service';
import { AdminApi, PROJECT_NOT_FOUND } from './admin-api.decorator';
import { CurrentActor } from './current-actor.decorator';
import { DatabaseAccess, SqlAnswer, TableRecord } from '../admin-records';
import { SqlDto } from './dto/projects.dto';
import { StrictBody } from '../../http/input/strict-input.decorator';

const DEFAULT_TIMEOUT_SECONDS = 60;
const DEFAULT_MAX_ROWS = 10_000;

@AdminApi()
@Controller('admin/v1/projects/:id')
export class ProjectDatabaseController {
  constructor(private readonly projects: ProjectAdminService) {}

  @Get('database')
  @ApiOperation({
    summary: "Get the owner's connection to a project's database, for psql and migration tools",
    operationId: 'getProjectDatabase',
  })
  @ApiResponse({ status: 200, type: DatabaseAccess })
  @ApiResponse(PROJECT_NOT_FOUND)
  database(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<DatabaseAccess> {
    return this.projects.database(id, actor);
  }

  @Post('sql')
  @HttpCode(200)
  @ApiOperation({
    summary: "Run SQL as the owner of a project's database, in one transaction",
    operationId: 'runProjectSql',
  })
  @ApiBody({ type: SqlDto })
  @ApiResponse({ status: 200, type: SqlAnswer })
  @ApiResponse({
    status: 400,
    description: 'The SQL failed and was rolled back',
    type: PlatformError,
  })
  @ApiResponse(PROJECT_NOT_FOUND)
  @ApiResponse({
    status: 503,
    description: 'The database server could not complete the SQL; Retry-After has the seconds to wait',
    type: PlatformError,
  })
  sql(@Param('id') id: string, @StrictBody() body: SqlDto, @CurrentActor() actor: Actor): Promise<SqlAnswer> {
    const limits = {
      timeoutSeconds: body.timeout_seconds ?? DEFAULT_TIMEOUT_SECONDS,
      maxRows: body.max_rows ?? DEFAULT_MAX_ROWS,
    };
    return this.projects.sql(id, body.query, limits, actor);
  }

  @Get('tables')
  @ApiOperation({
    summary: 'List tables with row-level security on or off',
    operationId: 'listProjectTables',
  })
  @ApiResponse({ status: 200, type: [TableRecord] })
  @ApiResponse(PROJECT_NOT_FOUND)
  tables(@Param('id') id: string): Promise<TableRecord[]> {
    return this.projects.tables(id);
  }
}
