/** Limits of tenants: quotas of requests and storage, and the end of sessions that harm other projects. */
import { Module } from '@nestjs/common';
import { ProjectsModule } from '../projects/projects.module';
import { ProvisioningModule } from '../provisioning/provisioning.module';
import { DiskReserve } from './disk-reserve.service';
import { ProjectQuotas } from './project-quotas.service';
import { QuotaUseRepository } from './quota-use.repository';
import { SessionWatch } from './session-watch.service';
import { StorageRateLimiter } from './storage-rate-limiter';

@Module({
  imports: [ProjectsModule, ProvisioningModule],
  providers: [DiskReserve, ProjectQuotas, QuotaUseRepository, SessionWatch, StorageRateLimiter],
  exports: [DiskReserve, ProjectQuotas, StorageRateLimiter],
})
export class LimitsModule {}
