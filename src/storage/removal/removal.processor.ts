/** Removes the bytes of deleted and overwritten files. Removing twice does no harm, so a job may run again after a crash. */
import { Processor } from '@nestjs/bullmq';
import { Logger } from '@nestjs/common';
import type { Job } from 'bullmq';
import { RedisClient } from '../../infra/coordination/redis-client';
import { QueueWorker, WORKER_OPTIONS } from '../../infra/queue/queue-worker';
import { ObjectStore } from '../providers/object-store';
import { StorageMetrics } from '../storage-metrics.service';
import { REMOVAL_QUEUE, RemovalJob } from './removal-queue';

@Processor(REMOVAL_QUEUE, { ...WORKER_OPTIONS, concurrency: 4 })
export class RemovalProcessor extends QueueWorker {
  protected readonly logger = new Logger('StorageRemoval');

  constructor(
    private readonly store: ObjectStore,
    private readonly metrics: StorageMetrics,
    redis: RedisClient,
  ) {
    super(redis);
  }

  override async process({ data, attemptsMade, opts }: Job<RemovalJob>): Promise<void> {
    try {
      await this.store.remove(data.projectId, data.objectIds);
      this.metrics.removal('done');
    } catch (error) {
      const isLast = attemptsMade + 1 >= (opts.attempts ?? 1);
      this.metrics.removal(isLast ? 'given_up' : 'retried');
      this.logger.warn(`${data.objectIds.length} objects could not be removed yet: ${String(error)}`);
      throw error;
    }
  }
}
