/** The present use of a project's limits, and the states of the job queues. */
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { SHORT_TIMEOUT } from '../../auth/accounts/account-statements';
import { AppError } from '../../common/errors/app-error';
import { MAIL_QUEUE } from '../../infra/mail/mail-queue';
import { RecordReader } from '../../database/rows/record-reader';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { ProjectQuotas } from '../../limits/project-quotas.service';
import { quotaMark } from '../../limits/quota-limits';
import { projectQuota } from '../../storage/quotas/quota';
import { StorageRateLimiter } from '../../limits/storage-rate-limiter';
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

const MAX_COUNT = Number.MAX_SAFE_INTEGER;
/** Maximum number of jobs that one call runs, and how many of them it runs concurrently. */
const MAX_RETRIED = 10_000;
const RETRY_CONCURRENCY = 100;

export const queueNotFound = (): AppError => new AppError(404, 'queue_not_found', 'There is no such queue');

@Injectable()
export class ProjectUsageService {
  constructor(
    private readonly rls: RlsTransaction,
    private readonly rates: StorageRateLimiter,
    private readonly limits: ProjectQuotas,
    @InjectQueue(MAIL_QUEUE) private readonly mails: Queue,
  ) {}

  async of(project: Project): Promise<ProjectUsage> {
    const reason = 'administrators read the usage';
    const [rate, requests, sent, [, use, mails]] = await Promise.all([
      this.rates.peek(project),
      this.limits.requestsOf(project),
      this.limits.mailsOf(project),
      this.rls.systemBatch(project.database, reason, [SHORT_TIMEOUT, USE, MAILS]),
    ]);
    const used = new RecordReader('storage.usage', use?.rows[0] ?? {});
    const mail = new RecordReader('auth.outgoing_mails', mails?.rows[0] ?? {});
    const { bytes, files } = projectQuota(project);
    const granted = this.limits.limitsOf(project);
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
        quotaUse('storage_bytes', used.integer('bytes', 0, MAX_COUNT), bytes),
        quotaUse('storage_files', used.integer('files', 0, MAX_COUNT), files),
        quotaUse('database_bytes', used.integer('database', 0, MAX_COUNT), granted.database_quota_bytes),
        quotaUse('requests_per_day', requests, granted.requests_per_day),
        quotaUse('mails_per_day', sent, granted.mails_per_day),
      ],
      mails: { waiting: mail.integer('waiting', 0, MAX_COUNT), failed: mail.integer('failed', 0, MAX_COUNT) },
    };
  }

  queues(): Promise<QueueState[]> {
    return Promise.all([this.mails].map(stateOf));
  }

  /**
   * Runs the jobs that wait for their next attempt, each once: promoteJobs() of BullMQ goes on until none waits, and so uses up
   * the attempts of jobs that fail again immediately.
   * @throws AppError 404 queue_not_found
   */
  async retry(name: string): Promise<QueueState> {
    const queue = [this.mails].find((one) => one.name === name);
    if (!queue) throw queueNotFound();
    const jobs = await queue.getDelayed(0, MAX_RETRIED - 1);
    for (let from = 0; from < jobs.length; from += RETRY_CONCURRENCY) {
      // A job that already runs is no longer delayed, and BullMQ refuses to promote it.
      await Promise.allSettled(jobs.slice(from, from + RETRY_CONCURRENCY).map((job) => job.promote()));
    }
    return stateOf(queue);
  }
}

function quotaUse(name: string, used: number, limit: number | null): ProjectUsage['quotas'][number] {
  const mark = quotaMark(used, limit);
  const state = mark === 100 ? 'exceeded' : mark > 0 ? 'warning' : 'ok';
  return { name, used, limit, state };
}

async function stateOf(queue: Queue): Promise<QueueState> {
  const [counts, paused] = await Promise.all([queue.getJobCounts(), queue.isPaused()]);
  const { waiting = 0, active = 0, delayed = 0, failed = 0, completed = 0 } = counts;
  return { name: queue.name, waiting, active, delayed, failed, completed, paused };
}
