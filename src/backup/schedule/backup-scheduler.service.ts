/**
 * Queues backups when they are due. The platform database says what is due, not the queue: a backup that was missed while the
 * machine was off is made up for once, and one whose process was killed, or whose job was lost with Redis, is tried again.
 */
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable, Logger, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { Clock } from '../../common/time/clock';
import { BACKUP_QUEUE, BackupJob } from './backup-queue';
import { BackupStates } from './backup-state.service';
import { RunRepository } from './run.repository';

const INTERVAL_MS = 30_000;

@Injectable()
export class BackupScheduler implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Backup');
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;
  private stopped = false;
  /** The last failure, so that the log does not repeat it. */
  private failure = '';

  constructor(
    @InjectQueue(BACKUP_QUEUE) private readonly queue: Queue<BackupJob>,
    private readonly states: BackupStates,
    private readonly runs: RunRepository,
    private readonly clock: Clock,
  ) {
    queue.on('error', (error) => this.logger.warn(`the queue of backups: ${error.message}`));
  }

  onApplicationBootstrap(): void {
    void this.tick();
    this.timer = setInterval(() => void this.tick(), INTERVAL_MS).unref();
  }

  /** Does not wait for a tick, which may wait for an unreachable Redis. The next process queues what is due. */
  onApplicationShutdown(): void {
    this.stopped = true;
    clearInterval(this.timer);
  }

  /** Reports lost runs and queues all backups that are due. Several processes may do it at once. */
  tick(): Promise<void> {
    this.running ??= this.queueDue()
      .then(() => void (this.failure = ''))
      .catch((error: unknown) => this.warnOnce(String(error)))
      .finally(() => (this.running = undefined));
    return this.running;
  }

  /** Queues backups now, whatever their schedule. */
  async request(subjects: readonly string[]): Promise<void> {
    const dueAt = this.clock.now();
    for (const subject of subjects) await this.add({ subject, dueAt }, 0);
  }

  private async queueDue(): Promise<void> {
    const lost = await this.runs.failLost(new Date(this.clock.now()));
    for (const { slug } of lost)
      this.logger.warn(`the backup of ${slug} was interrupted; it will be tried again`);
    for (const { subject, dueAt, isDue, failures } of await this.states.list())
      if (isDue && dueAt !== null) await this.add({ subject, dueAt }, failures);
  }

  /** One job for each attempt, whichever process adds it. The row of the run tells how it ended. */
  private async add(job: BackupJob, attempt: number): Promise<void> {
    const jobId = `${job.subject}-${job.dueAt}-${attempt}`;
    await this.queue.add('backup', job, { jobId, removeOnComplete: true, removeOnFail: true });
  }

  private warnOnce(failure: string): void {
    if (failure !== this.failure && !this.stopped)
      this.logger.warn(`backups could not be scheduled: ${failure}`);
    this.failure = failure;
  }
}
