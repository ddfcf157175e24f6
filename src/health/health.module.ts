/** Probes and metrics. */
import { Module } from '@nestjs/common';
import { BackupModule } from '../backup/backup.module';
import { LimitsModule } from '../limits/limits.module';
import { ServersModule } from '../servers/servers.module';
import { TrafficModule } from '../traffic/traffic.module';
import { StorageModule } from '../storage/storage.module';
import { BackupHealth } from './backup-health.service';
import { HealthRepository } from './health.repository';
import { InstallMetrics } from './install-metrics.service';
import { HealthController } from './http/health.controller';
import { MetricsListener } from './http/metrics-listener.service';
import { PoolMetrics } from './pool-metrics.service';
import { ReadinessService } from './readiness.service';
import { RequestMetrics } from './request-metrics.service';

@Module({
  imports: [BackupModule, LimitsModule, ServersModule, TrafficModule, StorageModule],
  controllers: [HealthController],
  providers: [
    BackupHealth,
    HealthRepository,
    InstallMetrics,
    MetricsListener,
    PoolMetrics,
    ReadinessService,
    RequestMetrics,
  ],
})
export class HealthModule {}
