/**
 * Bytes go after their row, by a job: no request waits for the provider, and a provider that is away is asked again. A job
 * that could not even be queued costs nothing but time: the sweep removes what no row names.
 */
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import type { JobsOptions, Queue } from 'bullmq';
import { ObjectAddress } from '../providers/object-address';
import {
  describeRemoval,
  FIRST_DELAY_MS,
  PROJECT_DELAY_MS,
  REMOVAL_ATTEMPTS,
  REMOVAL_QUEUE,
  RemovalJob,
} from './removal-queue';

const OPTIONS = {
  attempts: REMOVAL_ATTEMPTS,
  backoff: { type: 'exponential', delay: FIRST_DELAY_MS },
  removeOnComplete: true,
  removeOnFail: true,
};

@Injectable()
export class ObjectRemover implements OnApplicationShutdown {
  private readonly logger = new Logger(ObjectRemover.name);
  private readonly queuing = new Set<Promise<void>>();

  constructor(@InjectQueue(REMOVAL_QUEUE) private readonly queue: Queue<RemovalJob>) {
    queue.on('error', (error) => this.logger.warn(`the queue of removals: ${error.message}`));
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.queuing);
  }

  /** Removes objects of one project, which no row names any more, some time later. */
  removeLater(addresses: readonly ObjectAddress[]): void {
    const [first] = addresses;
    if (!first) return;
    this.enqueue({ projectId: first.projectId, objectIds: addresses.map(({ objectId }) => objectId) });
  }

  /** Removes all that a project has, as soon as it is deleted. Every process may ask for it: there is one job. */
  removeProjectLater(projectId: string): void {
    this.enqueue({ projectId, objectIds: null }, { jobId: `project-${projectId}`, delay: PROJECT_DELAY_MS });
  }

  private enqueue(job: RemovalJob, options: JobsOptions = {}): void {
    const queued = this.add(job, options);
    this.queuing.add(queued);
    void queued.then(() => this.queuing.delete(queued));
  }

  private async add(job: RemovalJob, options: JobsOptions): Promise<void> {
    try {
      await this.queue.add('remove', job, { ...OPTIONS, ...options });
    } catch (error) {
      this.logger.warn(`${describeRemoval(job)} are left to the sweep: ${String(error)}`);
    }
  }
}
