/** Probes and metrics. */
import { Module } from '@nestjs/common';
import { ObserveModule } from '../observe/observe.module';
import { StorageModule } from '../storage/storage.module';
import { DiskHealth } from './disk-health.service';
import { HealthRepository } from './health.repository';
import { HealthController } from './http/health.controller';
import { MetricsListener } from './http/metrics-listener.service';
import { PoolMetrics } from './pool-metrics.service';
import { ReadinessService } from './readiness.service';
import { RequestMetrics } from './request-metrics.service';

@Module({
  imports: [ObserveModule, StorageModule],
  controllers: [HealthController],
  providers: [DiskHealth, HealthRepository, MetricsListener, PoolMetrics, ReadinessService, RequestMetrics],
})
export class HealthModule {}
