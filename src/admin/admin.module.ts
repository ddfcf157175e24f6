/** Platform administration. */
import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module';
import { AuditLogController } from './http/audit-log.controller';
import { BackupModule } from '../backup/backup.module';
import { BackupsController } from './http/backups.controller';
import { FailedMailsController } from './http/failed-mails.controller';
import { ProjectDatabaseController } from './http/project-database.controller';
import { ProjectsController } from './http/projects.controller';
import { ProjectStorageController } from './http/project-storage.controller';
import { StorageModule } from '../storage/storage.module';
import { OwnerSqlService } from './owner-sql.service';
import { ProjectAdminService } from './project-admin.service';
import { TablesRepository } from './tables.repository';

@Module({
  imports: [AuthModule, BackupModule, StorageModule],
  controllers: [
    ProjectsController,
    ProjectDatabaseController,
    ProjectStorageController,
    BackupsController,
    AuditLogController,
    FailedMailsController,
  ],
  providers: [OwnerSqlService, ProjectAdminService, TablesRepository],
})
export class AdminModule {}
