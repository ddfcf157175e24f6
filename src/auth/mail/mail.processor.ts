/** Sends queued mails. A job that runs again after a crash sends the same mail with the same Message-ID. */
import { Processor } from '@nestjs/bullmq';
import { Logger } from '@nestjs/common';
import type { Job } from 'bullmq';
import { RedisClient } from '../../infra/coordination/redis-client';
import { QueueWorker, WORKER_OPTIONS } from '../../infra/queue/queue-worker';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { MailDelivery } from './mail-delivery.service';
import { MAIL_QUEUE, MailJob, NEVER_WRITTEN_AFTER_MS } from '../../infra/mail/mail-queue';
import { PlatformMails } from '../../infra/mail/platform-mail.service';
import { RequestedMails } from './requested-mails.service';
import { SlowProjects } from './slow-projects';

@Processor(MAIL_QUEUE, { ...WORKER_OPTIONS, concurrency: 5 })
export class MailProcessor extends QueueWorker {
  protected readonly logger = new Logger('Mail');

  constructor(
    private readonly projects: ProjectRegistry,
    private readonly delivery: MailDelivery,
    private readonly requested: RequestedMails,
    private readonly slow: SlowProjects,
    private readonly platform: PlatformMails,
    redis: RedisClient,
  ) {
    super(redis);
  }

  override async process(job: Job<MailJob>): Promise<void> {
    const { projectId, mailId, request, platformMail } = job.data;
    if (platformMail !== undefined) return this.platform.deliver(mailId, platformMail);
    const project = await this.projects.findById(projectId);
    if (!project) return;
    if (project.database.isPaused) {
      // A mail that is in the database is queued again by MailRecovery after the pause.
      if (request === undefined) return;
      throw new Error('the project is paused');
    }
    if (this.slow.isPaused(projectId))
      throw new Error("the project's database is slow; its mails are paused");
    const isLast = job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
    const outcome = await this.delivery.attempt(project, mailId, isLast);
    if (outcome !== 'absent') return;
    if (request !== undefined) {
      const isWritten = await this.requested.writeLate(project, job.data);
      if (isWritten) await this.delivery.attempt(project, mailId, isLast);
      return;
    }
    // The transaction that writes the mail may not have ended yet. If it failed, there is nothing to send.
    if (Date.now() - job.timestamp < NEVER_WRITTEN_AFTER_MS) {
      throw new Error('the mail is not written yet, or was sent already');
    }
  }
}
