/** Overview, activity, usage and catalog of a project. */
import { Module } from '@nestjs/common';
import { AdvisorModule } from '../advisor/advisor.module';
import { AuthModule } from '../auth/auth.module';
import { TrafficModule } from '../traffic/traffic.module';
import { StorageModule } from '../storage/storage.module';
import { DatabaseActivityService } from './activity/database-activity.service';
import { SlowQueriesRepository } from './activity/slow-queries.repository';
import { CatalogRepository } from './catalog/catalog.repository';
import { TablesRepository } from './catalog/tables.repository';
import { ProjectActivityController } from './http/project-activity.controller';
import { ProjectCatalogController } from './http/project-catalog.controller';
import { ProjectOverviewController } from './http/project-overview.controller';
import { UsageController } from './http/usage.controller';
import { ProjectOverviewService } from './overview/project-overview.service';
import { ProjectUsageService } from './usage/project-usage.service';

@Module({
  imports: [AdvisorModule, AuthModule, TrafficModule, StorageModule],
  controllers: [
    ProjectActivityController,
    ProjectCatalogController,
    ProjectOverviewController,
    UsageController,
  ],
  providers: [
    CatalogRepository,
    DatabaseActivityService,
    ProjectOverviewService,
    ProjectUsageService,
    SlowQueriesRepository,
    TablesRepository,
  ],
})
export class AdminModule {}
