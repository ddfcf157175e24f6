/**
 * Bytes go after their row, in the background: no request waits for the provider. They go at once, because a database whose
 * disk is full takes no job, and deleting must make room. A job tries again where that fails; what it cannot remove either,
 * or could not be queued, the sweep finds.
 */
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import type { JobsOptions, Queue } from 'bullmq';
import { setTimeout as sleep } from 'node:timers/promises';
import { Slots } from '../../infra/concurrency/slots';
import { ObjectAddress } from '../providers/object-address';
import { StorageMetrics } from '../storage-metrics.service';
import {
  describeRemoval,
  FIRST_DELAY_MS,
  PROJECT_DELAY_MS,
  REMOVAL_ATTEMPTS,
  REMOVAL_QUEUE,
  RemovalJob,
} from './removal-queue';
import { Removal } from './removal.service';

const OPTIONS = {
  attempts: REMOVAL_ATTEMPTS,
  backoff: { type: 'exponential', delay: FIRST_DELAY_MS },
  removeOnComplete: true,
  removeOnFail: true,
};
/** Removals that are under way at once, and that wait in memory for it; of up to 1,000 objects each. */
const AT_ONCE = 8;
const MAX_WAITING = 100;

@Injectable()
export class ObjectRemover implements OnApplicationShutdown {
  private readonly logger = new Logger(ObjectRemover.name);
  private readonly underWay = new Set<Promise<void>>();
  private readonly slots = new Slots(AT_ONCE, MAX_WAITING);
  private readonly stopping = new AbortController();

  constructor(
    @InjectQueue(REMOVAL_QUEUE) private readonly queue: Queue<RemovalJob>,
    private readonly removal: Removal,
    private readonly metrics: StorageMetrics,
  ) {
    queue.on('error', (error) => this.logger.warn(`the queue of removals: ${error.message}`));
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.underWay);
  }

  /** Removes objects of one project, which no row names any more; does not wait for it. */
  removeLater(addresses: readonly ObjectAddress[]): void {
    const [first] = addresses;
    if (!first) return;
    const job = { projectId: first.projectId, objectIds: addresses.map(({ objectId }) => objectId) };
    this.keep(this.removeOrQueue(job));
  }

  /** Removes all that a project has, as soon as it is deleted. Every process may ask for it: there is one job. */
  removeProjectLater(projectId: string): void {
    this.keep(this.queueOrRemove({ projectId, objectIds: null }));
  }

  private keep(work: Promise<void>): void {
    this.underWay.add(work);
    void work.then(() => this.underWay.delete(work));
  }

  private async removeOrQueue(job: RemovalJob): Promise<void> {
    try {
      await this.removeNow(job);
    } catch (error) {
      this.metrics.removal('retried');
      this.logger.warn(`${describeRemoval(job)} could not be removed at once: ${String(error)}`);
      await this.add(job).catch((failure: unknown) => this.leave(job, failure));
    }
  }

  /** A deletion takes a moment, and may be finished by another process after a crash: that is a job's to wait for. */
  private async queueOrRemove(job: RemovalJob): Promise<void> {
    try {
      await this.add(job, { jobId: `project-${job.projectId}`, delay: PROJECT_DELAY_MS });
    } catch (error) {
      this.logger.warn(`${describeRemoval(job)} could not be queued for removal: ${String(error)}`);
      await sleep(PROJECT_DELAY_MS, undefined, { signal: this.stopping.signal }).catch(() => undefined);
      await this.removeNow(job).catch((failure: unknown) => this.leave(job, failure));
    }
  }

  private removeNow(job: RemovalJob): Promise<void> {
    return this.slots.use(
      () => this.removal.run(job),
      () => new Error('too many removals are under way'),
    );
  }

  private async add(job: RemovalJob, options: JobsOptions = {}): Promise<void> {
    await this.queue.add('remove', job, { ...OPTIONS, ...options });
  }

  private leave(job: RemovalJob, reason: unknown): void {
    this.metrics.removal('given_up');
    this.logger.warn(`${describeRemoval(job)} are left to the sweep: ${String(reason)}`);
  }
}
