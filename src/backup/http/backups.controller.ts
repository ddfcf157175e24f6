/** Platform administration: backups of projects, streamed in both directions. */
import { Controller, Get, Headers, Param, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { WholeRequests } from '../../admission/whole-requests.service';
import { Readable } from 'node:stream';
import {
  archiveInvalid,
  passphraseInvalid,
  projectExists,
  restoreFailed,
  restoreInterrupted,
  storedFileMissing,
  wrongPassphrase,
} from '../backup.errors';
import { archiveNotFound } from '../archived-rows/archived-rows.errors';
import { ArchiveExport } from '../archive-export.service';
import { notSupported } from '../../copies/copies.errors';
import { projectBusy, slugTaken } from '../../projects/projects.errors';
import { ProjectBackup } from '../project-backup.service';
import { ProjectRestore } from '../project-restore.service';
import { BodyReader } from '../../http/bodies/body-reader';
import { pacedBody } from '../../admission/body-pace';
import { StrictQuery } from '../../http/input/strict-input.decorator';
import { clientLeft } from '../../http/client-left';
import { Actor, AuditLogRepository } from '../../install/audit/audit-log.repository';
import { RestoreReport } from './dto/backup-responses';
import { StaffAccess, CurrentActor } from '../../staff/http/staff-api.decorator';
import { sendArchive, ArchiveAnswer, ArchiveBody } from './archive-response';
import { passphraseOf } from './passphrase-header';
import { BackupQuery, RestoreQuery } from './dto/backups.dto';
import { Answer, Describe, Errors } from '../../http/docs/operation.decorators';

@StaffAccess()
@Controller('admin/v1')
export class BackupsController {
  constructor(
    private readonly backups: ProjectBackup,
    private readonly restores: ProjectRestore,
    private readonly exports: ArchiveExport,
    private readonly bodies: BodyReader,
    private readonly admission: WholeRequests,
    private readonly audit: AuditLogRepository,
  ) {}

  @Get('projects/:id/backup')
  @Describe(`Back up a project: its database, files, settings and keys as one archive
    The archive is a consistent snapshot; the project keeps serving requests. A failure after the first byte closes the connection: only an archive that was received to its end is complete.`)
  @ArchiveAnswer()
  @Errors(
    passphraseInvalid(),
    notSupported('The project has tables that its owner may not read'),
    projectBusy(),
  )
  async backupProject(
    @Param('id') id: string,
    @Headers('backup-passphrase') header: string | undefined,
    @StrictQuery() { compression }: BackupQuery,
    @CurrentActor() actor: Actor,
    @Res() response: Response,
  ): Promise<void> {
    const passphrase = passphraseOf(header);
    await sendArchive(
      `The backup of project ${id}`,
      { response, compression },
      () => this.audit.write({ actor, action: 'project.backup', projectId: id }),
      (open, how) => this.backups.write(id, passphrase, open, how),
    );
  }

  @Get('projects/:id/backups/:backup_id')
  @Describe(`Download a scheduled archive of a project, with the bytes of its files
    An incremental archive has them in the store of the destination. The passphrase is the one that the archive was made with; the download has it as well. A failure after the first byte closes the connection.`)
  @ArchiveAnswer()
  @Errors(passphraseInvalid(), wrongPassphrase(), archiveInvalid('it is cut off'))
  @Errors(storedFileMissing('a1e0f2d4-5b6c-4d7e-8f90-a1b2c3d4e5f6', 's3:acme-backups/plinth/'))
  @Errors(archiveNotFound())
  async downloadBackup(
    @Param('id') id: string,
    @Param('backup_id') run: string,
    @Headers('backup-passphrase') header: string | undefined,
    @StrictQuery() { compression }: BackupQuery,
    @CurrentActor() actor: Actor,
    @Res() response: Response,
  ): Promise<void> {
    const passphrase = passphraseOf(header);
    await sendArchive(
      `The archive of project ${id}`,
      { response, compression },
      () => this.audit.write({ actor, action: 'backup.download', projectId: id, details: { run } }),
      (open, how) => this.exports.write(id, run, passphrase, open, how),
    );
  }

  @Post('restore')
  @Describe(`Restore a project from a backup, with the same id
    The project serves requests once the whole archive is verified; a failure leaves nothing. It gets new keys, secrets and a new database password, and its users sign in again, unless \`keep_keys\` is \`true\`. With \`dry_run\`, it is restored under another id and removed again.`)
  @ArchiveBody()
  @Answer(201, 'The restored project', RestoreReport)
  @Errors(notSupported('The archive is of a newer version'))
  @Errors(restoreFailed('pre-data.sql', new Error('extension "postgis" is not available')))
  @Errors(restoreInterrupted('data', new Error('could not extend file: No space left on device')))
  @Errors(projectExists('acme'), slugTaken('acme', false))
  async restoreProject(
    @Headers('backup-passphrase') header: string | undefined,
    @StrictQuery() { slug, dry_run: dryRun, keep_keys: keepKeys }: RestoreQuery,
    @CurrentActor() actor: Actor,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<RestoreReport> {
    const options = {
      passphrase: passphraseOf(header),
      dryRun: dryRun === 'true',
      keepKeys: keepKeys === 'true',
      abandoned: clientLeft(response),
      ...(slug ? { slug } : {}),
    };
    const work = (): ReturnType<ProjectRestore['restore']> => {
      const body = Readable.from(pacedBody(request, this.bodies.pace), { objectMode: false });
      return this.restores.restore(body, options, actor);
    };
    const {
      header: archived,
      manifest,
      ...project
    } = await this.admission.runRequest(actor.name, work, options.abandoned);
    return {
      id: project.id,
      slug: project.slug,
      same_id: project.sameId,
      keys_kept: project.keysKept,
      dry_run: options.dryRun,
      backed_up_at: archived.created_at,
      tables: archived.tables.length,
      rows: Object.values(manifest.rows).reduce((sum, rows) => sum + rows, 0),
      files: manifest.files.count,
      missing_files: manifest.files.missing,
      skipped_settings: project.skippedSettings,
    };
  }
}
