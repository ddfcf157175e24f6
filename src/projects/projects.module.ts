/** Projects: registry, keys, settings, creation and removal. */
import { FolderModule } from '../infra/folder-module';
import { ProvisioningModule } from '../provisioning/provisioning.module';
import { ServersModule } from '../servers/servers.module';
import { LoginRepair } from './login-repair.service';
import { ProjectFactory } from './project-factory';
import { OwnerDatabase } from './owner-database';
import { ProjectSecrets } from './project-secrets';

@FolderModule(__dirname, {
  imports: [ProvisioningModule, ServersModule],
  providers: [ProjectSecrets, OwnerDatabase, ProjectFactory, LoginRepair],
  exports: [ProvisioningModule, ServersModule],
})
export class ProjectsModule {}
