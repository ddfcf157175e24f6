/** Platform administration. */
import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module';
import { AuditLogController } from '../install/http/audit-log.controller';
import { DoctorCheck } from '../doctor/finding';
import { DOCTOR_CHECKS, DoctorService } from '../doctor/doctor.service';
import { DoctorController } from '../doctor/http/doctor.controller';
import { BackupModule } from '../backup/backup.module';
import { BackupAdminService } from '../backup/schedule/backup-admin.service';
import { BackupSchedulesController } from '../backup/http/backup-schedules.controller';
import { BackupsController } from '../backup/http/backups.controller';
import { InstallBackupsController } from '../backup/http/install-backups.controller';
import { FailedMailsController } from '../auth/http/failed-mails.controller';
import { PhysicalBackupController } from '../backup/http/physical-backup.controller';
import { ProjectDatabaseController } from '../sql/http/project-database.controller';
import { ProjectMigrationsController } from '../migrations/http/project-migrations.controller';
import { ProjectSchemaController } from '../backup/http/project-schema.controller';
import { DatabaseActivityService } from './activity/database-activity.service';
import { SlowQueriesRepository } from './activity/slow-queries.repository';
import { ProjectActivityController } from './http/project-activity.controller';
import { UsageController } from './http/usage.controller';
import { ProjectUsageService } from './usage/project-usage.service';
import { AdviceDismissalRepository } from '../advisor/advice-dismissal.repository';
import { Advisor } from '../advisor/advisor.service';
import { BackupAge } from '../advisor/checks/backup-age.check';
import { AdviceController } from '../advisor/http/advice.controller';
import { ProjectCatalogController } from './http/project-catalog.controller';
import { ProjectOverviewController } from './http/project-overview.controller';
import { ProjectOverviewService } from './overview/project-overview.service';
import { ObserveModule } from '../observe/observe.module';
import { ProjectRequestsController } from '../observe/http/project-requests.controller';
import { MoveModule } from '../move/move.module';
import { ProjectMovesController } from '../move/http/project-moves.controller';
import { ProjectsController } from '../projects/http/projects.controller';
import { ProjectStorageController } from '../storage/http/project-storage.controller';
import { RestModule } from '../rest/rest.module';
import { SavedQueriesController } from '../sql/http/saved-queries.controller';
import { SavedQueryRepository } from '../sql/queries/saved-query.repository';
import { ServersController } from '../servers/http/servers.controller';
import { UpgradeController } from './http/upgrade.controller';
import { StorageModule } from '../storage/storage.module';
import { MigrationLedger } from '../migrations/migration-ledger.repository';
import { ProjectMigrationsService } from '../migrations/project-migrations.service';
import { OwnerSqlService } from '../sql/owner-sql.service';
import { ProjectAdminService } from '../projects/project-admin.service';
import { SchemaChangeService } from '../sql/schema-change.service';
import { SessionDeadline } from '../sql/session-deadline.service';
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
