/** Limits of tenants: quotas of requests and storage, and the end of sessions that harm other projects. */
import { FolderModule } from '../infra/folder-module';
import { ProjectsModule } from '../projects/projects.module';
import { ProvisioningModule } from '../provisioning/provisioning.module';
import { SessionWatch } from './session-watch.service';
import { StorageRateLimiter } from './storage-rate-limiter';

@FolderModule(__dirname, {
  imports: [ProjectsModule, ProvisioningModule],
  providers: [StorageRateLimiter, SessionWatch],
})
export class LimitsModule {}
