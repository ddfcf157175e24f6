/** Platform administration: a project's own migrations. */
import { Controller, Get, Param, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { clientLeft } from '../../http/client-left';
import { StrictBody } from '../../http/input/strict-input.decorator';
import { Actor } from '../../install/audit/audit-log.repository';
import { AppliedMigrationResponse, MigrationRunResponse } from './dto/project-migrations.dto';
import { ProjectMigrationsService } from '../project-migrations.service';
import { invalidParameters } from '../../common/errors/app-error';
import { StaffApi, CurrentActor } from '../../staff/http/staff-api.decorator';
import { MIGRATION_FAILURES, MigrationErrors } from './migration-error-docs';
import { RunMigrationsDto } from './dto/project-migrations.dto';
import { Answer, Describe } from '../../http/docs/operation.decorators';

const DEFAULT_TIMEOUT_SECONDS = 600;
const DEFAULT_LOCK_TIMEOUT_SECONDS = 60;

@StaffApi()
@Controller('admin/v1/projects/:id/migrations')
export class ProjectMigrationsController {
  constructor(private readonly migrations: ProjectMigrationsService) {}

  @Get()
  @Describe(`List a project's applied migrations in the order of their versions
    The record is in the schema \`plinth_migrations\` of the project.`)
  @Answer(200, 'The applied migrations', [AppliedMigrationResponse])
  async listProjectMigrations(@Param('id') id: string): Promise<AppliedMigrationResponse[]> {
    const applied = await this.migrations.list(id);
    return applied.map(({ appliedAt, ...rest }) => ({ ...rest, applied_at: appliedAt }));
  }

  @Post()
  @Describe(`Apply the pending ones of the given migrations to a project's database
    Each migration runs in its own transaction unless its first line is \`-- plinth: no-transaction\`. If one fails, it is rolled back, and those before it stay applied.`)
  @Answer(200, 'The outcome', MigrationRunResponse)
  @MigrationErrors(invalidParameters('version must have 1 to 18 digits'), MIGRATION_FAILURES)
  runProjectMigrations(
    @Param('id') id: string,
    @StrictBody() body: RunMigrationsDto,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) response: Response,
  ): Promise<MigrationRunResponse> {
    const options = {
      dryRun: body.dry_run ?? false,
      outOfOrder: body.out_of_order ?? false,
      timeoutSeconds: body.timeout_seconds ?? DEFAULT_TIMEOUT_SECONDS,
      lockTimeoutSeconds: body.lock_timeout_seconds ?? DEFAULT_LOCK_TIMEOUT_SECONDS,
      abandoned: clientLeft(response),
    };
    return this.migrations.runMigrations(id, body.migrations, options, actor);
  }
}
