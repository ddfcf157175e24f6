/** Sends queued mails. A job that is run again after a crash sends the same mail under the same Message-ID. */
import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import { BeforeApplicationShutdown, Logger } from '@nestjs/common';
import type { Job, Worker } from 'bullmq';
import { Clock } from '../../common/time/clock';
import { RedisClient } from '../../infra/coordination/redis-client';
import { MailTransport } from '../../infra/mail/mail-transport';
import { Project } from '../../projects/project';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { AuthMetrics } from '../auth-metrics.service';
import { AuthMailer } from './auth-mailer.service';
import { MailComposer } from './mail-composer.service';
import { isMailKind } from './mail-kinds';
import { MAIL_QUEUE, MailJob, NEVER_WRITTEN_AFTER_MS } from './mail-queue';
import { OutgoingMailRepository, OutgoingMailRow } from './outgoing-mail.repository';

const WORKER = {
  concurrency: 5,
  // A job whose worker was killed is taken up by another one within half a minute, however often that happens.
  lockDuration: 20_000,
  stalledInterval: 10_000,
  maxStalledCount: 100,
};

/**
 * Milliseconds without a try after an error of the queue's own. BullMQ waits only where a connection was refused; after
 * any other error it tries again at once, and a database that answers with errors would starve the event loop.
 */
const REST_MS = 2_000;

@Processor(MAIL_QUEUE, WORKER)
export class MailProcessor extends WorkerHost implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Mail');
  /** Runs while the worker rests after an error. */
  private rest: NodeJS.Timeout | undefined;

  constructor(
    private readonly projects: ProjectRegistry,
    private readonly mails: OutgoingMailRepository,
    private readonly mailer: AuthMailer,
    private readonly composer: MailComposer,
    private readonly transport: MailTransport,
    private readonly metrics: AuthMetrics,
    private readonly redis: RedisClient,
    private readonly clock: Clock,
  ) {
    super();
  }

  /** Earlier than the pools close: a mail under way is finished and marked. A Redis that is away is not waited for. */
  async beforeApplicationShutdown(): Promise<void> {
    clearTimeout(this.rest);
    await this.startedWorker()?.close(this.redis.isAway);
  }

  /** Null in a process that never served (the first one of several, or a start that failed): Nest's getter throws then. */
  private startedWorker(): Worker | null {
    try {
      return this.worker;
    } catch {
      return null;
    }
  }

  /** Also: without a listener BullMQ would write to the console. */
  @OnWorkerEvent('error')
  onError(error: Error): void {
    this.logger.warn(`the mail worker: ${error.message}`);
    if (this.rest) return;
    void this.worker.pause(true);
    this.rest = setTimeout(() => {
      this.rest = undefined;
      void this.worker.resume();
    }, REST_MS).unref();
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
