/** Platform administration: a project's own migrations. */
import { Controller, Get, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import { clientLeft } from '../../http/client-left';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { Actor } from '../../install/audit/audit-log.repository';
import { AppliedMigrationRecord, MigrationRunAnswer } from './dto/migration-responses';
import { ProjectMigrationsService } from '../project-migrations.service';
import {
  PROJECT_ERRORS,
  ProjectIdParam,
  STAFF_REFUSALS,
  StaffApi,
} from '../../staff/http/staff-api.decorator';
import { databaseUnreachable, internalError, invalidParameters } from '../../common/errors/http-errors';
import {
  bodyIsEncoded,
  bodyNotJson,
  bodyTooLarge,
  bodyTooSlow,
  mediaTypeNotJson,
  noMemoryForBody,
} from '../../http/bodies/body.errors';
import { MAX_JSON_BODY } from '../../http/bodies/body-reader';
import { Answer, JsonBody } from '../../http/docs/answer.decorator';
import { PlatformErrors } from '../../http/errors/platform-error-docs';
import { projectNotFound } from '../../projects/projects.errors';
import { CurrentActor } from '../../staff/http/current-staff.decorator';
import { MIGRATION_CONFLICTS, MigrationErrors } from './migration-error-docs';
import { SERVER_FAILURE, SQL_FAILURES } from '../../sql/http/sql-error-docs';
import { RunMigrationsDto } from './dto/project-migrations.dto';

const DEFAULT_TIMEOUT_SECONDS = 600;
const DEFAULT_LOCK_TIMEOUT_SECONDS = 60;

@StaffApi()
@Controller('admin/v1/projects/:id/migrations')
export class ProjectMigrationsController {
  constructor(private readonly migrations: ProjectMigrationsService) {}

  @Get()
  @ApiOperation({
    operationId: 'listProjectMigrations',
    summary: "List a project's applied migrations in the order of their versions",
    description: 'The record is in the schema `plinth_migrations` of the project.',
  })
  @ProjectIdParam()
  @Answer(200, 'The applied migrations', [AppliedMigrationRecord])
  @PlatformErrors(PROJECT_ERRORS)
  async list(@Param('id') id: string): Promise<AppliedMigrationRecord[]> {
    const applied = await this.migrations.list(id);
    return applied.map(({ appliedAt, ...rest }) => ({ ...rest, applied_at: appliedAt }));
  }

  @Post()
  @HttpCode(200)
  @ApiOperation({
    operationId: 'runProjectMigrations',
    summary: "Apply the pending ones of the given migrations to a project's database",
    description:
      'Each migration runs in a transaction of its own unless its first line is `-- plinth: no-transaction`. If one fails, it is rolled back, and those before it stay applied.',
  })
  @ProjectIdParam()
  @JsonBody(RunMigrationsDto)
  @Answer(200, 'The outcome', MigrationRunAnswer)
  @MigrationErrors(
    invalidParameters('version must have 1 to 18 digits'),
    SQL_FAILURES,
    SERVER_FAILURE,
    MIGRATION_CONFLICTS,
    bodyNotJson(),
    noMemoryForBody(),
    databaseUnreachable(),
  )
  @PlatformErrors(
    bodyTooSlow(),
    bodyTooLarge(MAX_JSON_BODY),
    mediaTypeNotJson(),
    bodyIsEncoded('gzip'),
    projectNotFound(),
    STAFF_REFUSALS,
    internalError(),
  )
  run(
    @Param('id') id: string,
    @StrictBody() body: RunMigrationsDto,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) response: Response,
  ): Promise<MigrationRunAnswer> {
    const options = {
      dryRun: body.dry_run ?? false,
      outOfOrder: body.out_of_order ?? false,
      timeoutSeconds: body.timeout_seconds ?? DEFAULT_TIMEOUT_SECONDS,
      lockTimeoutSeconds: body.lock_timeout_seconds ?? DEFAULT_LOCK_TIMEOUT_SECONDS,
      abandoned: clientLeft(response),
    };
    return this.migrations.run(id, body.migrations, options, actor);
  }
}
