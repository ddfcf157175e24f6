/** Platform administration: backups of projects, streamed in both directions. */
import { Controller, Get, Headers, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiHeader, ApiOperation, ApiProduces, ApiResponse } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Readable } from 'node:stream';
import { passphraseInvalid } from '../../backup/backup.errors';
import { ProjectBackup } from '../../backup/project-backup.service';
import { ProjectRestore } from '../../backup/project-restore.service';
import { BodyReader } from '../../http/bodies/body-reader';
import { pacedBody } from '../../http/bodies/paced-body';
import { StrictQuery } from '../../http/input/strict-input.decorator';
import { PlatformError } from '../../http/errors/platform-error.dto';
import { Actor, AuditLogRepository } from '../../projects/audit-log.repository';
import { RestoreReport } from '../admin-records';
import { AdminAccess, INVALID, PROJECT_NOT_FOUND } from './admin-api.decorator';
import { CurrentActor } from './current-actor.decorator';
import { RestoreQuery } from './dto/backups.dto';

const ARCHIVE = { type: 'string', format: 'binary' } as const;
const MIN_PASSPHRASE = 12;
const MAX_PASSPHRASE = 1024;
const PASSPHRASE = {
  name: 'Backup-Passphrase',
  required: true,
  description: `Encrypts the secrets in the backup: ${MIN_PASSPHRASE} characters or more, percent-encoded`,
};

@AdminAccess()
@Controller('admin/v1')
export class BackupsController {
  constructor(
    private readonly backups: ProjectBackup,
    private readonly restores: ProjectRestore,
    private readonly bodies: BodyReader,
    private readonly audit: AuditLogRepository,
  ) {}

  @Get('projects/:id/backup')
  @ApiOperation({
    summary: 'Back up a project: its database, files, settings and keys as one archive (.tar.gz)',
    operationId: 'backupProject',
  })
  @ApiHeader(PASSPHRASE)
  @ApiProduces('application/gzip')
  @ApiResponse({
    status: 200,
    description: 'The archive; only one that ends properly is complete',
    schema: ARCHIVE,
  })
  @ApiResponse(INVALID)
  @ApiResponse(PROJECT_NOT_FOUND)
  @ApiResponse({ status: 409, description: 'Another backup of the project runs', type: PlatformError })
  async backup(
    @Param('id') id: string,
    @Headers('backup-passphrase') header: string | undefined,
    @CurrentActor() actor: Actor,
    @Res() response: Response,
  ): Promise<void> {
    const passphrase = passphraseOf(header);
    await this.backups.write(id, passphrase, async () => {
      await this.audit.write({ actor, action: 'project.backup', projectId: id });
      response.setHeader('Content-Type', 'application/gzip');
      response.setHeader('Cache-Control', 'no-store');
      return response;
    });
  }

  @Post('restore')
  @HttpCode(201)
  @ApiOperation({
    summary: 'Restore a project from a backup, with the same id, keys and sessions',
    operationId: 'restoreProject',
  })
  @ApiHeader(PASSPHRASE)
  @ApiConsumes('application/gzip')
  @ApiBody({ schema: ARCHIVE })
  @ApiResponse({ status: 201, type: RestoreReport })
  @ApiResponse(INVALID)
  @ApiResponse({ status: 409, description: 'The id or the slug belongs to a project', type: PlatformError })
  async restore(
    @Headers('backup-passphrase') header: string | undefined,
    @StrictQuery() { slug, dry_run: dryRun }: RestoreQuery,
    @CurrentActor() actor: Actor,
    @Req() request: Request,
  ): Promise<RestoreReport> {
    const options = {
      passphrase: passphraseOf(header),
      dryRun: dryRun === 'true',
      ...(slug ? { slug } : {}),
    };
    const body = Readable.from(pacedBody(request, this.bodies.pace), { objectMode: false });
    const { header: archived, manifest, ...project } = await this.restores.restore(body, options, actor);
    return {
      id: project.id,
      slug: project.slug,
      same_id: project.sameId,
      dry_run: options.dryRun,
      backed_up_at: archived.created_at,
      tables: archived.tables.length,
      rows: Object.values(manifest.rows).reduce((sum, rows) => sum + rows, 0),
      files: manifest.files.count,
      missing_files: manifest.files.missing,
    };
  }
}

/** @throws AppError 400 */
function passphraseOf(header: string | undefined): string {
  try {
    const passphrase = decodeURIComponent(header ?? '');
    if (passphrase.length >= MIN_PASSPHRASE && passphrase.length <= MAX_PASSPHRASE) return passphrase;
  } catch {
    // Malformed percent-encoding.
  }
  throw passphraseInvalid();
}
