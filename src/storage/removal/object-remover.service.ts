/**
 * Removes bytes after their row, in the background, so that no request waits for the provider. Tries at once, without a job:
 * a database on a full disk could not store one, and deleting must free space. A job retries what failed, and the sweep
 * removes what the job could not.
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
/** Removals that run at once, and that wait in memory, of up to 1,000 objects each. */
const CONCURRENCY = 8;
const MAX_WAITING = 100;

@Injectable()
export class ObjectRemover implements OnApplicationShutdown {
  private readonly logger = new Logger(ObjectRemover.name);
  private readonly running = new Set<Promise<void>>();
  private readonly slots = new Slots(CONCURRENCY, MAX_WAITING);
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
    await Promise.all(this.running);
  }

  /** Removes objects of one project in the background; no row may refer to them any more. */
  removeLater(addresses: readonly ObjectAddress[]): void {
    const [first] = addresses;
    if (!first) return;
    const job = { projectId: first.projectId, objectIds: addresses.map(({ objectId }) => objectId) };
    this.keep(this.removeOrQueue(job));
  }

  /** Removes all bytes of a project as soon as its deletion is done. All processes that call this share one job. */
  removeProjectLater(projectId: string): void {
    this.keep(this.queueOrRemove({ projectId, objectIds: null }));
  }

  private keep(work: Promise<void>): void {
    this.running.add(work);
    void work.then(() => this.running.delete(work));
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

  /** Queues a job that waits for the deletion, which takes a moment and may be finished by another process after a crash. */
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
      () => new Error('too many removals are running'),
      job.projectId,
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
