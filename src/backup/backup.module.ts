/** Backup and restore of projects and of the install, on request and by schedule. */
import { FolderModule } from '../infra/folder-module';
import { StorageModule } from '../storage/storage.module';
import { BackupMetrics } from './schedule/backup-metrics.service';
import { ArchivedRowsController } from './http/archived-rows.controller';
import { BackupsController } from './http/backups.controller';
import { InstallBackupsController } from './http/install-backups.controller';
import { PhysicalBackupController } from './http/physical-backup.controller';
import { BackupSchedulesController } from './http/backup-schedules.controller';
import { ProjectSchemaController } from './http/project-schema.controller';
import { BackupPassphrase } from './schedule/backup-passphrase';
import { BackupDestination } from './schedule/backup-destination';
import { ArchivedExtensions } from './archive/archived-extensions';

@FolderModule(__dirname, {
  imports: [StorageModule],
  controllers: [
    ArchivedRowsController,
    BackupsController,
    InstallBackupsController,
    PhysicalBackupController,
    BackupSchedulesController,
    ProjectSchemaController,
  ],
  providers: [ArchivedExtensions, BackupDestination, BackupPassphrase, BackupMetrics],
})
export class BackupModule {}
