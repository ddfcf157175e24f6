/** The present use of a project's limits, and the states of the job queues. */
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { SHORT_TIMEOUT } from '../../auth/accounts/account-statements';
import { MAIL_QUEUE } from '../../auth/mail/mail-queue';
import { RecordReader } from '../../database/rows/record-reader';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { projectQuota } from '../../storage/quotas/quota';
import { StorageRateLimiter } from '../../storage/rate-limit/storage-rate-limiter';
import { REMOVAL_QUEUE } from '../../storage/removal/removal-queue';
import { ProjectUsage, QueueState } from './project-usage';

const USE = {
  text: `select pg_catalog.pg_database_size(pg_catalog.current_database()) as database,
    u.project_bytes as bytes, u.project_files as files
    from storage.usage_of('00000000-0000-0000-0000-000000000000') u`,
};

const MAILS = {
  text: `select count(*) filter (where failed_at is null) as waiting, count(failed_at) as failed
    from auth.outgoing_mails where sent_at is null`,
};

const MOST = Number.MAX_SAFE_INTEGER;

@Injectable()
export class ProjectUsageService {
  constructor(
    private readonly rls: RlsTransaction,
    private readonly rates: StorageRateLimiter,
    @InjectQueue(MAIL_QUEUE) private readonly mails: Queue,
    @InjectQueue(REMOVAL_QUEUE) private readonly removals: Queue,
  ) {}

  async of(project: Project): Promise<ProjectUsage> {
    const reason = 'administrators look at the usage';
    const [rate, [, use, mails]] = await Promise.all([
      this.rates.peek(project),
      this.rls.systemBatch(project.database, reason, [SHORT_TIMEOUT, USE, MAILS]),
    ]);
    const used = new RecordReader('storage.usage', use?.rows[0] ?? {});
    const mail = new RecordReader('auth.outgoing_mails', mails?.rows[0] ?? {});
    const { bytes, files } = projectQuota(project);
    return {
      rate_limits: [
        {
          name: 'storage_requests',
          limit: rate.limit,
          used: rate.count,
          resets_at: new Date(rate.resetAt).toISOString(),
        },
      ],
      quotas: [
        { name: 'storage_bytes', used: used.integer('bytes', 0, MOST), limit: bytes },
        { name: 'storage_files', used: used.integer('files', 0, MOST), limit: files },
        { name: 'database_bytes', used: used.integer('database', 0, MOST), limit: null },
      ],
      mails: { waiting: mail.integer('waiting', 0, MOST), failed: mail.integer('failed', 0, MOST) },
    };
  }

  queues(): Promise<QueueState[]> {
    return Promise.all([this.mails, this.removals].map(stateOf));
  }
}

async function stateOf(queue: Queue): Promise<QueueState> {
  const [counts, paused] = await Promise.all([queue.getJobCounts(), queue.isPaused()]);
  const { waiting = 0, active = 0, delayed = 0, failed = 0, completed = 0 } = counts;
  return { name: queue.name, waiting, active, delayed, failed, completed, paused };
}
