/** Projects: registry, keys, settings, provisioning. */
import { Module } from '@nestjs/common';
import { OwnerDatabase } from './owner-database';
import { ProjectRegistry } from './project-registry.service';
import { ProjectRepository } from './project.repository';
import { ProjectSecrets } from './project-secrets';
import { ProjectsService } from './projects.service';
import { DatabaseProvisioner } from './provisioning/database-provisioner';
import { TemplateDatabase } from './provisioning/template-database';

@Module({
  providers: [
    DatabaseProvisioner,
    OwnerDatabase,
    ProjectRegistry,
    ProjectRepository,
    ProjectSecrets,
    ProjectsService,
    TemplateDatabase,
  ],
  exports: [OwnerDatabase, ProjectRegistry, ProjectsService, TemplateDatabase],
})
export class ProjectsModule {}
