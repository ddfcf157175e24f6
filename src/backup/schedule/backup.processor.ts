/** Makes queued backups, one at a time in each process. */
import { Processor } from '@nestjs/bullmq';
import { Logger } from '@nestjs/common';
import type { Job } from 'bullmq';
import { RedisClient } from '../../infra/coordination/redis-client';
import { QueueWorker, WORKER_OPTIONS } from '../../infra/queue/queue-worker';
import { BACKUP_QUEUE, BackupJob } from './backup-queue';
import { ScheduledBackup } from './scheduled-backup.service';

@Processor(BACKUP_QUEUE, { ...WORKER_OPTIONS, concurrency: 1 })
export class BackupProcessor extends QueueWorker {
  protected readonly logger = new Logger('Backup');

  constructor(
    private readonly backup: ScheduledBackup,
    redis: RedisClient,
  ) {
    super(redis);
  }

  override async process({ data }: Job<BackupJob>): Promise<void> {
    await this.backup.make(data);
  }

  override async beforeApplicationShutdown(): Promise<void> {
    this.backup.stop();
    await super.beforeApplicationShutdown();
  }
}
