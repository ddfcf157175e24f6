/** Platform administration: a backup of the whole install. */
import { Controller, Get, Headers, Res } from '@nestjs/common';
import type { Response } from 'express';
import { notSupported } from '../../copies/copies.errors';
import { passphraseInvalid } from '../backup.errors';
import { PhysicalBackup } from '../physical/physical-backup.service';
import { StrictQuery } from '../../http/input/strict-input.decorator';
import { Actor, AuditLogRepository } from '../../install/audit/audit-log.repository';
import { projectBusy } from '../../projects/projects.errors';
import { StaffAccess, CurrentActor } from '../../staff/http/staff-api.decorator';
import { sendArchive, ArchiveAnswer } from './archive-response';
import { passphraseOf } from './passphrase-header';
import { PhysicalBackupQuery } from './dto/backups.dto';
import { Describe, Errors } from '../../http/docs/operation.decorators';

@StaffAccess()
@Controller('admin/v1/physical-backup')
export class PhysicalBackupController {
  constructor(
    private readonly backups: PhysicalBackup,
    private readonly audit: AuditLogRepository,
  ) {}

  @Get()
  @Describe(`Back up the whole install: the embedded cluster, the keys of the platform and the files on disk
    Needs the embedded PostgreSQL. It is restored by \`plinth restore --physical\`. A failure after the first byte closes the connection: only an archive that was received to its end is complete.`)
  @ArchiveAnswer()
  @Errors(passphraseInvalid(), notSupported('The PostgreSQL of this install is not the embedded one'))
  @Errors(projectBusy())
  async backupInstallPhysically(
    @Headers('backup-passphrase') header: string | undefined,
    @StrictQuery() { files, compression }: PhysicalBackupQuery,
    @CurrentActor() actor: Actor,
    @Res() response: Response,
  ): Promise<void> {
    const passphrase = passphraseOf(header);
    await sendArchive(
      'The physical backup of the install',
      { response, compression },
      () => this.audit.write({ actor, action: 'install.backup', projectId: null }),
      (open, how) => this.backups.write(passphrase, files !== 'false', open, how),
    );
  }
}
