/**
 * Writes mails, and wakes a worker for each. The row in auth.outgoing_mails is the mail: a job has its id only, and MailSweep
 * makes one for every unsent mail that has none. No acknowledged mail is lost, even if the queue or this process fails.
 */
import { InjectQueue } from '@nestjs/bullmq';
import { Inject, Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { LRUCache } from 'lru-cache';
import { randomUUID } from 'node:crypto';
import { Clock } from '../../common/time/clock';
import { MAIL_CONFIG, MailConfig } from '../../config/app-config';
import { MAIL_QUEUE, MailJob, mailJobOptions } from '../../infra/mail/mail-queue';
import { ProjectQuotas } from '../../limits/project-quotas.service';
import { Project } from '../../projects/project';
import { MailSealer, SealedMail } from './mail-sealer.service';
import { OutboxListRepository } from './outbox-list.repository';

/** Milliseconds: far less than a project stays on the list after its latest mail (MailSweep). */
const ANNOUNCED_MS = 60_000;
const PROJECT_CACHE_SIZE = 5_000;

@Injectable()
export class AuthMailer implements OnApplicationShutdown {
  private readonly logger = new Logger('Mail');
  private readonly pending = new Set<Promise<unknown>>();
  /** The time at which a project was last put on the list, in milliseconds since the epoch. */
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
   * @returns the result of `write` @throws AppError 429 if the quota of mails for today is used up
   */
  async send<T extends object | boolean>(
    project: Project,
    content: SealedMail,
    write: (mailId: string, sealed: Buffer) => Promise<T>,
  ): Promise<T> {
    await this.quotas.spendMail(project);
    const mailId = randomUUID();
    let isWritten = false;
    try {
      await this.announce(project.id);
      const written = await write(mailId, this.sealer.seal(project.id, mailId, content));
      isWritten = written !== false;
      return written;
    } finally {
      this.inBackground(isWritten ? this.wake(project.id, mailId) : this.quotas.returnMail(project));
    }
  }

  /** Queues a mail, unless it is queued already. An error is not passed on: MailSweep tries again. */
  async wake(projectId: string, mailId: string): Promise<void> {
    const options = mailJobOptions(mailId, this.config.retryDelayMs);
    await this.queue.add('send', { projectId, mailId }, options).catch((error: unknown) => {
      this.logger.warn(`mail ${mailId} was not queued and is tried again: ${String(error)}`);
    });
  }

  /** Queues a mail for an immediate attempt, even if it waits for a later one. */
  async wakeNow(projectId: string, mailId: string): Promise<void> {
    await this.queue.remove(mailId).catch(() => undefined);
    await this.wake(projectId, mailId);
  }

  /** MailSweep must know the project before a mail exists. */
  private async announce(projectId: string): Promise<void> {
    const now = this.clock.now();
    if (now - (this.announcedAt.get(projectId) ?? -Infinity) < ANNOUNCED_MS) return;
    await this.outboxes.touch(projectId, new Date(now));
    this.announcedAt.set(projectId, now);
  }

  /** Awaited only at the shutdown. */
  private inBackground(work: Promise<unknown>): void {
    this.pending.add(work);
    void work.finally(() => this.pending.delete(work));
  }
}
