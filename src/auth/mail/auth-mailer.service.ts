/**
 * Queues mails so that a token and its mail are written together or not at all, even if a process crashes. First the job is
 * queued with a delay, then token and mail are written in one statement, then the job is released. After a crash before the
 * release, the job runs when its delay ends; after a crash before the statement, it finds nothing to send.
 */
import { InjectQueue } from '@nestjs/bullmq';
import { Inject, Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import type { Job, Queue } from 'bullmq';
import { LRUCache } from 'lru-cache';
import { randomUUID } from 'node:crypto';
import { httpError } from '../../common/errors/http-errors';
import { Clock } from '../../common/time/clock';
import { MAIL_CONFIG, MailConfig } from '../../config/app-config';
import { Project } from '../../projects/project';
import { ProjectQuotas } from '../../limits/project-quotas.service';
import { MAIL_QUEUE, MailJob, mailJobOptions, UNRELEASED_DELAY_MS } from '../../infra/mail/mail-queue';
import { MailSealer, SealedMail } from './mail-sealer.service';
import { OutboxListRepository } from './outbox-list.repository';

/** Milliseconds: far less than a project stays on the list after its latest mail (MailRecovery). */
const ANNOUNCED_MS = 60_000;
const PROJECT_CACHE_SIZE = 5_000;

@Injectable()
export class AuthMailer implements OnApplicationShutdown {
  private readonly logger = new Logger('Mail');
  private readonly pending = new Set<Promise<void>>();
  /** When a project was last put on the list, in milliseconds since the epoch. */
  private readonly announcedAt = new LRUCache<string, number>({ max: PROJECT_CACHE_SIZE });

  constructor(
    @InjectQueue(MAIL_QUEUE) private readonly queue: Queue<MailJob>,
    private readonly outboxes: OutboxListRepository,
    private readonly sealer: MailSealer,
    private readonly quotas: ProjectQuotas,
    private readonly clock: Clock,
    @Inject(MAIL_CONFIG) private readonly config: MailConfig,
  ) {
    queue.on('error', (error) => this.logger.warn(`the mail queue: ${error.message}`));
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.pending);
  }

  /**
   * Sends a mail.
   * @param write writes the mail, in one transaction with its token; false: there is nothing to send
   * @returns the result of `write` @throws AppError 429 without a mail left for today, 503 if the queue cannot be reached
   */
  async send<T extends object | boolean>(
    project: Project,
    content: SealedMail,
    write: (mailId: string, sealed: Buffer) => Promise<T>,
  ): Promise<T> {
    await this.quotas.spendMail(project);
    const mailId = randomUUID();
    const sealed = this.sealer.seal(project.id, mailId, content);
    let isWritten = false;
    try {
      const job = await this.enqueueUnreleased({ projectId: project.id, mailId });
      const written = await write(mailId, sealed);
      isWritten = written !== false;
      this.inBackground(this.release(job, isWritten));
      return written;
    } finally {
      if (!isWritten) this.inBackground(this.quotas.returnMail(project));
    }
  }

  /**
   * Sends a mail, and resolves before it is written: the time reveals nothing about the recipient. The mail is safe from
   * then on: if `write` fails, the job has the mail written from `request` (RequestedMails). The mail counts before it is
   * known whether the address has an account, so that the response is the same, and is given back if it has none: otherwise
   * requests for unknown addresses could use up the quota.
   * @throws AppError 429 without a mail left for today, 503 if the queue cannot be reached
   */
  async sendLater(
    project: Project,
    request: object,
    write: (mailId: string) => Promise<boolean>,
  ): Promise<void> {
    await this.quotas.spendMail(project);
    const { id: projectId } = project;
    const mailId = randomUUID();
    const sealed = this.sealer.sealRequest(projectId, mailId, request);
    const job = await this.enqueueUnreleased({ projectId, mailId, request: sealed });
    this.inBackground(this.writeAndRelease(project, job, write));
  }

  /** Queues a mail that has no job. @returns false if it has one that will send it */
  async ensureQueued(projectId: string, mailId: string): Promise<boolean> {
    const job = await this.queue.getJob(mailId);
    // A failed job does not run again. Its mail is still unsent if the failure could not be recorded.
    if (job && !(await job.isFailed())) return false;
    await this.sendAgain(projectId, mailId);
    return true;
  }

  /** Queues a mail for an immediate attempt, whatever became of its earlier job. */
  async sendAgain(projectId: string, mailId: string): Promise<void> {
    await this.queue.remove(mailId);
    await this.enqueue({ projectId, mailId }, 0);
  }

  private async enqueueUnreleased(data: MailJob): Promise<Job<MailJob>> {
    await this.announce(data.projectId);
    return this.enqueue(data, UNRELEASED_DELAY_MS);
  }

  /** MailRecovery must know the project before there is a mail to recover. */
  private async announce(projectId: string): Promise<void> {
    const now = this.clock.now();
    if (now - (this.announcedAt.get(projectId) ?? -Infinity) < ANNOUNCED_MS) return;
    await this.outboxes.touch(projectId, new Date(now));
    this.announcedAt.set(projectId, now);
  }

  /** @param delay milliseconds */
  private async enqueue(data: MailJob, delay: number): Promise<Job<MailJob>> {
    try {
      return await this.queue.add('send', data, {
        ...mailJobOptions(data.mailId, this.config.retryDelayMs),
        delay,
      });
    } catch (error) {
      throw httpError(503, 'The mail queue cannot be reached', error);
    }
  }

  private async writeAndRelease(
    project: Project,
    job: Job<MailJob>,
    write: (mailId: string) => Promise<boolean>,
  ): Promise<void> {
    try {
      const isWritten = await write(job.data.mailId);
      if (!isWritten) await this.quotas.returnMail(project);
      await this.release(job, isWritten);
    } catch (error) {
      this.logger.warn(
        `a mail of project ${project.slug} is not written yet, its job will try again: ${String(error)}`,
      );
    }
  }

  private async release(job: Job<MailJob>, isWritten: boolean): Promise<void> {
    try {
      await (isWritten ? job.promote() : job.remove());
    } catch (error) {
      // The job runs after its delay anyway.
      this.logger.debug(`a mail job was not released: ${String(error)}`);
    }
  }

  /** Only the shutdown waits for it. */
  private inBackground(work: Promise<void>): void {
    this.pending.add(work);
    void work.finally(() => this.pending.delete(work));
  }
}
