/** Backup and restore of projects and of the install, on request and by schedule. */
import { Module } from '@nestjs/common';
import { StorageModule } from '../storage/storage.module';
import { AuditArchiveRepository } from './archive/audit-archive.repository';
import { ArchivedExtensions } from './archive/archived-extensions';
import { InstallBackup } from './install-backup.service';
import { InstallRestore } from './install-restore.service';
import { PhysicalBackup } from './physical/physical-backup.service';
import { BackupRehearsals } from './rehearsal/backup-rehearsals.service';
import { RehearsalMails } from './rehearsal/rehearsal-mails.service';
import { RehearsalRepository } from './rehearsal/rehearsal.repository';
import { ProjectBackup } from './project-backup.service';
import { ProjectRestore } from './project-restore.service';
import { ProjectSchema } from './project-schema.service';
import { BackupDestination } from './schedule/backup-destination';
import { BackupMetrics } from './schedule/backup-metrics.service';
import { BackupPassphrase } from './schedule/backup-passphrase';
import { BackupScheduler } from './schedule/backup-scheduler.service';
import { BackupStateRepository } from './schedule/backup-state.repository';
import { BackupStates } from './schedule/backup-state.service';
import { RunRepository } from './schedule/run.repository';
import { ScheduleRepository } from './schedule/schedule.repository';
import { ScheduledBackup } from './schedule/scheduled-backup.service';
import { BackupsController } from './http/backups.controller';
import { InstallBackupsController } from './http/install-backups.controller';
import { PhysicalBackupController } from './http/physical-backup.controller';
import { BackupSchedulesController } from './http/backup-schedules.controller';
import { ProjectSchemaController } from './http/project-schema.controller';
import { BackupAdminService } from './http/backup-admin.service';

@Module({
  imports: [StorageModule],
  controllers: [
    BackupsController,
    InstallBackupsController,
    PhysicalBackupController,
    BackupSchedulesController,
    ProjectSchemaController,
  ],
  providers: [
    BackupAdminService,
    ArchivedExtensions,
    AuditArchiveRepository,
    BackupDestination,
    BackupMetrics,
    BackupPassphrase,
    BackupRehearsals,
    BackupScheduler,
    BackupStateRepository,
    BackupStates,
    InstallBackup,
    InstallRestore,
    PhysicalBackup,
    ProjectBackup,
    ProjectRestore,
    ProjectSchema,
    RehearsalMails,
    RehearsalRepository,
    RunRepository,
    ScheduledBackup,
    ScheduleRepository,
  ],
  exports: [
    BackupDestination,
    BackupPassphrase,
    BackupScheduler,
    BackupStates,
    InstallBackup,
    InstallRestore,
    PhysicalBackup,
    ProjectBackup,
    ProjectRestore,
    ProjectSchema,
    RunRepository,
    ScheduleRepository,
  ],
})
export class BackupModule {}
