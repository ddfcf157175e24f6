/** Runs the jobs: retries of failed removals, and removals of deleted projects. */
import { Processor } from '@nestjs/bullmq';
import { Logger } from '@nestjs/common';
import type { Job } from 'bullmq';
import { RedisClient } from '../../infra/coordination/redis-client';
import { QueueWorker, WORKER_OPTIONS } from '../../infra/queue/queue-worker';
import { StorageMetrics } from '../storage-metrics.service';
import { describeRemoval, REMOVAL_QUEUE, RemovalJob } from './removal-queue';
import { Removal } from './removal.service';

@Processor(REMOVAL_QUEUE, { ...WORKER_OPTIONS, concurrency: 4 })
export class RemovalProcessor extends QueueWorker {
  protected readonly logger = new Logger('StorageRemoval');

  constructor(
    private readonly removal: Removal,
    private readonly metrics: StorageMetrics,
    redis: RedisClient,
  ) {
    super(redis);
  }

  override async process({ data, attemptsMade, opts }: Job<RemovalJob>): Promise<void> {
    try {
      await this.removal.run(data);
    } catch (error) {
      const isLast = attemptsMade + 1 >= (opts.attempts ?? 1);
      this.metrics.removal(isLast ? 'given_up' : 'retried');
      this.logger.warn(`${describeRemoval(data)} could not be removed yet: ${String(error)}`);
      throw error;
    }
  }
}
