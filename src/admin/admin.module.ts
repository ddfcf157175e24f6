/** Overview, activity, usage and catalog of a project. */
import { FolderModule } from '../infra/folder-module';
import { AdvisorModule } from '../advisor/advisor.module';
import { AuthModule } from '../auth/auth.module';
import { TrafficModule } from '../traffic/traffic.module';
import { StorageModule } from '../storage/storage.module';
import { ProjectActivityController } from './http/project-activity.controller';
import { ProjectCatalogController } from './http/project-catalog.controller';
import { ProjectOverviewController } from './http/project-overview.controller';
import { UsageController } from './http/usage.controller';

@FolderModule(__dirname, {
  imports: [AdvisorModule, AuthModule, TrafficModule, StorageModule],
  controllers: [
    ProjectActivityController,
    ProjectCatalogController,
    ProjectOverviewController,
    UsageController,
  ],
})
export class AdminModule {}
