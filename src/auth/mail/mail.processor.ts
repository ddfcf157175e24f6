/** Sends the mails that the queue names. A job that runs again after a crash sends the same mail with the same Message-ID. */
import { Processor } from '@nestjs/bullmq';
import { Logger } from '@nestjs/common';
import type { Job } from 'bullmq';
import { RedisClient } from '../../infra/coordination/redis-client';
import { MAIL_QUEUE, MailJob } from '../../infra/mail/mail-queue';
import { PlatformMails } from '../../infra/mail/platform-mail.service';
import { QueueWorker, WORKER_OPTIONS } from '../../infra/queue/queue-worker';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { MailDelivery } from './mail-delivery.service';
import { SlowProjects } from './slow-projects';

@Processor(MAIL_QUEUE, { ...WORKER_OPTIONS, concurrency: 5 })
export class MailProcessor extends QueueWorker {
  protected readonly logger = new Logger('Mail');

  constructor(
    private readonly projects: ProjectRegistry,
    private readonly delivery: MailDelivery,
    private readonly slow: SlowProjects,
    private readonly platform: PlatformMails,
    redis: RedisClient,
  ) {
    super(redis);
  }

  override async process({ data, attemptsMade, opts }: Job<MailJob>): Promise<void> {
    const { projectId, mailId, platformMail } = data;
    if (platformMail !== undefined) return this.platform.deliver(mailId, platformMail);
    const project = await this.projects.findById(projectId);
    // MailSweep queues the mails of a paused project after the pause.
    if (!project || project.database.isPaused) return;
    if (this.slow.isPaused(projectId))
      throw new Error("the project's database is slow; its mails are paused");
    await this.delivery.attempt(project, mailId, attemptsMade + 1 >= (opts.attempts ?? 1));
  }
}
