/** Sends queued mails. A job that is run again after a crash sends the same mail under the same Message-ID. */
import { Processor } from '@nestjs/bullmq';
import { Logger } from '@nestjs/common';
import type { Job } from 'bullmq';
import { Clock } from '../../common/time/clock';
import { RedisClient } from '../../infra/coordination/redis-client';
import { MailTransport } from '../../infra/mail/mail-transport';
import { QueueWorker, WORKER_OPTIONS } from '../../infra/queue/queue-worker';
import { Project } from '../../projects/project';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { AuthMetrics } from '../auth-metrics.service';
import { AuthMailer } from './auth-mailer.service';
import { MailComposer } from './mail-composer.service';
import { isMailKind } from './mail-kinds';
import { MAIL_QUEUE, MailJob, NEVER_WRITTEN_AFTER_MS } from './mail-queue';
import { OutgoingMailRepository, OutgoingMailRow } from './outgoing-mail.repository';

@Processor(MAIL_QUEUE, { ...WORKER_OPTIONS, concurrency: 5 })
export class MailProcessor extends QueueWorker {
  protected readonly logger = new Logger('Mail');

  constructor(
    private readonly projects: ProjectRegistry,
    private readonly mails: OutgoingMailRepository,
    private readonly mailer: AuthMailer,
    private readonly composer: MailComposer,
    private readonly transport: MailTransport,
    private readonly metrics: AuthMetrics,
    redis: RedisClient,
    private readonly clock: Clock,
  ) {
    super(redis);
  }

  override async process(job: Job<MailJob>): Promise<void> {
    const { projectId, mailId } = job.data;
    const project = await this.projects.findById(projectId);
    if (!project) return;
    const row = await this.mails.claim(project, mailId);
    if (!row) return this.awaitRow(job);
    if (row.expiresAt.getTime() <= this.clock.now()) {
      await this.mails.markFailed(project, mailId, 'it expired before it could be sent', this.now());
      this.metrics.mail('given_up');
      return;
    }
    await this.attempt(project, job, row);
  }

  /** The transaction that writes the mail may still be under way; when it failed, there is nothing to send. */
  private awaitRow(job: Job<MailJob>): void {
    if (Date.now() - job.timestamp < NEVER_WRITTEN_AFTER_MS) {
      throw new Error('the mail is not written yet, or was sent already');
    }
  }

  private async attempt(project: Project, job: Job<MailJob>, row: OutgoingMailRow): Promise<void> {
    const { mailId } = job.data;
    try {
      await this.deliver(project, mailId, row);
    } catch (error) {
      const isLast = job.attemptsMade + 1 >= (job.opts.attempts ?? 1);
      const reason = error instanceof Error ? error.message : String(error);
      await this.mails.markFailed(project, mailId, reason, isLast ? this.now() : null);
      this.metrics.mail(isLast ? 'given_up' : 'retried');
      this.logger.warn(`mail ${mailId} of project ${project.slug} was not sent: ${reason}`);
      throw error;
    }
    this.metrics.mail('sent');
    await this.mails.markSent(project, mailId, this.now());
  }

  private async deliver(project: Project, mailId: string, row: OutgoingMailRow): Promise<void> {
    if (!isMailKind(row.kind) || row.sealed === null)
      throw new Error(`nothing known of a mail "${row.kind}"`);
    const { token, newEmail } = this.mailer.open(project.id, mailId, row.sealed);
    const content = await this.composer.compose(project, {
      kind: row.kind,
      name: row.userName,
      email: row.recipient,
      token,
      newEmail,
      lifetimeMs: row.expiresAt.getTime() - row.createdAt.getTime(),
    });
    await this.transport.send({
      ...content,
      messageId: `<${mailId}@${project.id}.plinth>`,
      to: row.recipient,
      date: row.createdAt,
    });
  }

  private now(): Date {
    return new Date(this.clock.now());
  }
}
