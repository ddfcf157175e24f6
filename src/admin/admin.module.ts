/** Platform administration. */
import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module';
import { AuditLogController } from './http/audit-log.controller';
import { DoctorCheck } from './doctor/finding';
import { DOCTOR_CHECKS, DoctorService } from './doctor/doctor.service';
import { DoctorController } from './http/doctor.controller';
import { BackupModule } from '../backup/backup.module';
import { BackupAdminService } from './backup-admin.service';
import { BackupSchedulesController } from './http/backup-schedules.controller';
import { BackupsController } from './http/backups.controller';
import { InstallBackupsController } from './http/install-backups.controller';
import { FailedMailsController } from './http/failed-mails.controller';
import { PhysicalBackupController } from './http/physical-backup.controller';
import { ProjectDatabaseController } from './http/project-database.controller';
import { ProjectMigrationsController } from './http/project-migrations.controller';
import { ProjectSchemaController } from './http/project-schema.controller';
import { DatabaseActivityService } from './activity/database-activity.service';
import { SlowQueriesRepository } from './activity/slow-queries.repository';
import { ProjectActivityController } from './http/project-activity.controller';
import { UsageController } from './http/usage.controller';
import { ProjectUsageService } from './usage/project-usage.service';
import { AdviceDismissalRepository } from './advice/advice-dismissal.repository';
import { Advisor } from './advice/advisor.service';
import { BackupAge } from './advice/backup-age.check';
import { AdviceController } from './http/advice.controller';
import { ProjectCatalogController } from './http/project-catalog.controller';
import { ProjectOverviewController } from './http/project-overview.controller';
import { ProjectOverviewService } from './overview/project-overview.service';
import { ObserveModule } from '../observe/observe.module';
import { ProjectRequestsController } from './http/project-requests.controller';
import { MoveModule } from '../move/move.module';
import { ProjectMovesController } from './http/project-moves.controller';
import { ProjectsController } from './http/projects.controller';
import { ProjectStorageController } from './http/project-storage.controller';
import { RestModule } from '../rest/rest.module';
import { SavedQueriesController } from './http/saved-queries.controller';
import { SavedQueryRepository } from './queries/saved-query.repository';
import { ServersController } from './http/servers.controller';
import { UpgradeController } from './http/upgrade.controller';
import { StorageModule } from '../storage/storage.module';
import { MigrationLedger } from './migrations/migration-ledger.repository';
import { ProjectMigrationsService } from './migrations/project-migrations.service';
import { OwnerSqlService } from './owner-sql.service';
import { ProjectAdminService } from './project-admin.service';
import { SchemaChangeService } from './schema-change.service';
import { ScriptQueue } from './script-queue';
import { SessionDeadline } from './session-deadline.service';
import { CatalogRepository } from './catalog/catalog.repository';
import { TablesRepository } from './tables.repository';

@Module({
  imports: [AuthModule, BackupModule, MoveModule, ObserveModule, RestModule, StorageModule],
  controllers: [
    ProjectsController,
    ProjectDatabaseController,
    ProjectMigrationsController,
    ProjectSchemaController,
    ProjectRequestsController,
    ProjectActivityController,
    ProjectCatalogController,
    ProjectOverviewController,
    ProjectStorageController,
    BackupsController,
    InstallBackupsController,
    PhysicalBackupController,
    BackupSchedulesController,
    AuditLogController,
    FailedMailsController,
    DoctorController,
    UpgradeController,
    UsageController,
    ServersController,
    ProjectMovesController,
    AdviceController,
    SavedQueriesController,
  ],
  providers: [
    BackupAdminService,
    DatabaseActivityService,
    SlowQueriesRepository,
    ProjectUsageService,
    ProjectOverviewService,
    AdviceDismissalRepository,
    Advisor,
    BackupAge,
    OwnerSqlService,
    SavedQueryRepository,
    ProjectAdminService,
    ProjectMigrationsService,
    MigrationLedger,
    SchemaChangeService,
    ScriptQueue,
    SessionDeadline,
    CatalogRepository,
    TablesRepository,
    ...DOCTOR_CHECKS,
    {
      provide: DoctorService,
      inject: [...DOCTOR_CHECKS],
      useFactory: (...checks: DoctorCheck[]) => new DoctorService(checks),
    },
  ],
})
export class AdminModule {}
