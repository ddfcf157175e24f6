/** Platform administration. */
import { Module } from '@nestjs/common';
import { AuditLogController } from './http/audit-log.controller';
import { ProjectDatabaseController } from './http/project-database.controller';
import { ProjectsController } from './http/projects.controller';
import { ProjectStorageController } from './http/project-storage.controller';
import { StorageModule } from '../storage/storage.module';
import { OwnerSqlService } from './owner-sql.service';
import { ProjectAdminService } from './project-admin.service';
import { TablesRepository } from './tables.repository';

@Module({
  imports: [StorageModule],
  controllers: [ProjectsController, ProjectDatabaseController, ProjectStorageController, AuditLogController],
  providers: [OwnerSqlService, ProjectAdminService, TablesRepository],
})
export class AdminModule {}
