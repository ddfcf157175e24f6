/** Platform administration: a project's own migrations. */
import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiResponse } from '@nestjs/swagger';
import { PlatformError } from '../../http/errors/platform-error.dto';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { Actor } from '../../projects/audit-log.repository';
import { AppliedMigrationRecord, MigrationRunAnswer } from '../admin-records';
import { ProjectMigrationsService } from '../migrations/project-migrations.service';
import { AdminApi, PROJECT_NOT_FOUND } from './admin-api.decorator';
import { CurrentActor } from './current-actor.decorator';
import { RunMigrationsDto } from './dto/project-migrations.dto';

const DEFAULT_TIMEOUT_SECONDS = 600;
const DEFAULT_LOCK_TIMEOUT_SECONDS = 60;

@AdminApi()
@Controller('admin/v1/projects/:id/migrations')
export class ProjectMigrationsController {
  constructor(private readonly migrations: ProjectMigrationsService) {}

  @Get()
  @ApiOperation({
    summary: "List a project's applied migrations in the order of their versions",
    operationId: 'listProjectMigrations',
  })
  @ApiResponse({ status: 200, type: [AppliedMigrationRecord] })
  @ApiResponse(PROJECT_NOT_FOUND)
  async list(@Param('id') id: string): Promise<AppliedMigrationRecord[]> {
    const applied = await this.migrations.list(id);
    return applied.map(({ appliedAt, ...rest }) => ({ ...rest, applied_at: appliedAt }));
  }

  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary: "Apply those of the given migrations that a project's database does not have yet",
    operationId: 'runProjectMigrations',
  })
  @ApiBody({ type: RunMigrationsDto })
  @ApiResponse({ status: 200, type: MigrationRunAnswer })
  @ApiResponse({
    status: 400,
    description: 'A migration failed and was rolled back; those before it stay applied',
    type: PlatformError,
  })
  @ApiResponse(PROJECT_NOT_FOUND)
  @ApiResponse({
    status: 409,
    description: 'A migration was changed or comes too late, or another run holds the lock',
    type: PlatformError,
  })
  @ApiResponse({
    status: 503,
    description: 'The database server could not complete the SQL; Retry-After has the seconds to wait',
    type: PlatformError,
  })
  run(
    @Param('id') id: string,
    @StrictBody() body: RunMigrationsDto,
    @CurrentActor() actor: Actor,
  ): Promise<MigrationRunAnswer> {
    const options = {
      dryRun: body.dry_run ?? false,
      outOfOrder: body.out_of_order ?? false,
      timeoutSeconds: body.timeout_seconds ?? DEFAULT_TIMEOUT_SECONDS,
      lockTimeoutSeconds: body.lock_timeout_seconds ?? DEFAULT_LOCK_TIMEOUT_SECONDS,
    };
    return this.migrations.run(id, body.migrations, options, actor);
  }
}
