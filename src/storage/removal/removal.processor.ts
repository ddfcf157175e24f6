/**
 * Removes the bytes of deleted and overwritten files, and of deleted projects. Removing twice does no harm, so a job may run
 * again after a crash.
 */
import { Processor } from '@nestjs/bullmq';
import { Logger } from '@nestjs/common';
import type { Job } from 'bullmq';
import { RedisClient } from '../../infra/coordination/redis-client';
import { QueueWorker, WORKER_OPTIONS } from '../../infra/queue/queue-worker';
import { isObjectId, ObjectAddress } from '../providers/object-address';
import { ObjectStore } from '../providers/object-store';
import { StorageMetrics } from '../storage-metrics.service';
import { DeletedProjects } from './deleted-projects.service';
import { describeRemoval, REMOVAL_QUEUE, RemovalJob } from './removal-queue';

@Processor(REMOVAL_QUEUE, { ...WORKER_OPTIONS, concurrency: 4 })
export class RemovalProcessor extends QueueWorker {
  protected readonly logger = new Logger('StorageRemoval');

  constructor(
    private readonly store: ObjectStore,
    private readonly deleted: DeletedProjects,
    private readonly metrics: StorageMetrics,
    redis: RedisClient,
  ) {
    super(redis);
  }

  override async process({ data, attemptsMade, opts }: Job<RemovalJob>): Promise<void> {
    try {
      await this.remove(data);
      this.metrics.removal('done');
    } catch (error) {
      const isLast = attemptsMade + 1 >= (opts.attempts ?? 1);
      this.metrics.removal(isLast ? 'given_up' : 'retried');
      this.logger.warn(`${describeRemoval(data)} could not be removed yet: ${String(error)}`);
      throw error;
    }
  }

  private async remove({ projectId, objectIds }: RemovalJob): Promise<void> {
    if (objectIds !== null) return this.store.remove(this.addressesOf(projectId, objectIds));
    if ((await this.deleted.deletedAt(projectId)) === null) throw new Error('the deletion is not done yet');
    // Of a disk that is not mounted everything seems to be removed already.
    await this.store.assertAvailable();
    return this.store.removeProject(projectId);
  }

  /** Jobs wait in the queue, maybe since a version that checked no ids: what cannot be an object's is left out. */
  private addressesOf(projectId: string, objectIds: readonly string[]): ObjectAddress[] {
    const known = objectIds.filter(isObjectId);
    const unknown = objectIds.length - known.length;
    if (unknown > 0)
      this.logger.error(
        `${unknown} of the objects that project ${projectId} has to remove are none: left alone`,
      );
    return known.map((objectId) => new ObjectAddress(projectId, objectId));
  }
}
