/** Probes and metrics. */
import { FolderModule } from '../infra/folder-module';
import { BackupModule } from '../backup/backup.module';
import { LimitsModule } from '../limits/limits.module';
import { ServersModule } from '../servers/servers.module';
import { TrafficModule } from '../traffic/traffic.module';
import { StorageModule } from '../storage/storage.module';
import { InstallMetrics } from './install-metrics.service';
import { HealthController } from './http/health.controller';
import { MetricsListener } from './http/metrics-listener.service';
import { PoolMetrics } from './pool-metrics.service';
import { RequestMetrics } from './request-metrics.service';

@FolderModule(__dirname, {
  imports: [BackupModule, LimitsModule, ServersModule, TrafficModule, StorageModule],
  controllers: [HealthController],
  providers: [InstallMetrics, MetricsListener, PoolMetrics, RequestMetrics],
})
export class HealthModule {}
