/** Platform administration: one archive of the whole install, streamed in both directions. */
import { Controller, Get, Headers, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { WholeRequests } from '../../admission/whole-requests.service';
import { Readable } from 'node:stream';
import { passphraseInvalid, restoreFailed } from '../backup.errors';
import { notSupported } from '../../copies/copies.errors';
import { InstallBackup } from '../install-backup.service';
import { InstallRestore } from '../install-restore.service';
import { ZSTD_MISSING } from '../../config/compression';
import { BodyReader } from '../../http/bodies/body-reader';
import { pacedBody } from '../../admission/body-pace';
import { clientLeft } from '../../http/client-left';
import { StrictQuery } from '../../http/input/strict-input.decorator';
import { Actor, AuditLogRepository } from '../../install/audit/audit-log.repository';
import { InstallRestoreReport } from './dto/backup-responses';
import { StaffAccess, CurrentActor } from '../../staff/http/staff-api.decorator';
import { sendArchive, ArchiveAnswer, ArchiveBody } from './archive-response';
import { passphraseOf } from './passphrase-header';
import { BackupQuery, InstallRestoreQuery } from './dto/backups.dto';
import { Answer, Describe, Errors } from '../../http/docs/operation.decorators';

@StaffAccess()
@Controller('admin/v1')
export class InstallBackupsController {
  constructor(
    private readonly backups: InstallBackup,
    private readonly restores: InstallRestore,
    private readonly bodies: BodyReader,
    private readonly admission: WholeRequests,
    private readonly audit: AuditLogRepository,
  ) {}

  @Get('backup')
  @Describe(`Back up the install: an archive of each project, the audit log, the schedules and the list of servers as one archive
    Each project is archived at its own point in time. A project that cannot be archived is listed in the manifest and does not stop the others. If the backup as a whole fails, the connection is closed.`)
  @ArchiveAnswer()
  @Errors(passphraseInvalid(), notSupported(ZSTD_MISSING))
  async backupInstall(
    @Headers('backup-passphrase') header: string | undefined,
    @StrictQuery() { compression }: BackupQuery,
    @CurrentActor() actor: Actor,
    @Res() response: Response,
  ): Promise<void> {
    const passphrase = passphraseOf(header);
    await sendArchive(
      'The backup of the install',
      { response, compression },
      () => this.audit.write({ actor, action: 'install.backup', projectId: null }),
      (open, how) => this.backups.write(passphrase, open, how),
    );
  }

  @Post('restore/all')
  @Describe(`Restore the projects, the audit log, the schedules and the list of servers of a backup of the install
    Needs an owner of the installation. Existing projects are left unchanged; every other one is restored completely or not at all. Projects keep their keys, unless \`keep_keys\` is \`false\`. Added entries of the audit log name the restoring person as \`imported_by\` in their details. The call can be repeated. With \`dry_run\`, each project is restored under another id and removed again.`)
  @ArchiveBody()
  @Answer(200, 'The outcome for each project, failures included', InstallRestoreReport)
  @Errors(notSupported('This is a backup of one project: restore it without --all'))
  @Errors(restoreFailed('platform/audit_log.copy', new Error('missing data for column "details"')))
  async restoreInstall(
    @Headers('backup-passphrase') header: string | undefined,
    @StrictQuery() { dry_run: dryRun, keep_keys: keepKeys }: InstallRestoreQuery,
    @CurrentActor() actor: Actor,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<InstallRestoreReport> {
    const options = {
      passphrase: passphraseOf(header),
      dryRun: dryRun === 'true',
      keepKeys: keepKeys !== 'false',
      abandoned: clientLeft(response),
    };
    const work = (): ReturnType<InstallRestore['restore']> => {
      const body = Readable.from(pacedBody(request, this.bodies.pace), { objectMode: false });
      return this.restores.restore(body, options, actor);
    };
    const { backedUpAt, projects, auditEntries, schedules, servers } = await this.admission.runRequest(
      actor.name,
      work,
      options.abandoned,
    );
    return {
      dry_run: options.dryRun,
      backed_up_at: backedUpAt,
      projects,
      audit_entries: auditEntries,
      schedules,
      servers,
    };
  }
}
