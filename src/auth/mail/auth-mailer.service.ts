/**
 * Mails and their tokens are there together or not at all, whatever crashes when: the job that sends a mail is queued
 * first, with a delay; then token and mail are written in one statement of the project's database; then the job is
 * released. Without the last step it runs by itself; without the second it finds nothing to send.
 */
import { InjectQueue } from '@nestjs/bullmq';
import { Inject, Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import type { Job, Queue } from 'bullmq';
import { LRUCache } from 'lru-cache';
import { randomUUID } from 'node:crypto';
import { Clock } from '../../common/time/clock';
import { httpError } from '../../common/errors/http-errors';
import { MAIL_CONFIG, MailConfig, SECRETS_CONFIG, SecretsConfig } from '../../config/app-config';
import { SecretBox } from '../../infra/crypto/secret-box';
import { Project } from '../../projects/project';
import { OutboxListRepository } from './outbox-list.repository';
import { FAILED_JOB_SECONDS, MAIL_ATTEMPTS, MAIL_QUEUE, MailJob, UNRELEASED_DELAY_MS } from './mail-queue';

/** Milliseconds: far less than a project stays on the list after its latest mail (MailRecovery). */
const ANNOUNCED_MS = 60_000;
const REMEMBERED_PROJECTS = 5_000;

/** What only the receiver may read. */
export interface SealedMail {
  /**
   * Key of the receiver's address (EmailAddress.key). The address itself lies open in the project's database, whose owner
   * could change it; a mail goes to this one or to nobody. Mails that earlier versions sealed lack it.
   */
  readonly to?: string;
  readonly token?: string;
  readonly newEmail?: string;
  /** Language tags of the request that caused the mail, the most wanted first. */
  readonly languages?: readonly string[];
}

/** Writes a mail under that id, in the transaction of all that belongs to it. False: there is nobody to write to. */
export type MailWriter = (mailId: string) => Promise<boolean>;

@Injectable()
export class AuthMailer implements OnApplicationShutdown {
  private readonly logger = new Logger('Mail');
  private readonly box: SecretBox;
  private readonly underWay = new Set<Promise<void>>();
  /** When a project was last put on the list, in milliseconds since the epoch. */
  private readonly announcedAt = new LRUCache<string, number>({ max: REMEMBERED_PROJECTS });

  constructor(
    @InjectQueue(MAIL_QUEUE) private readonly queue: Queue<MailJob>,
    private readonly outboxes: OutboxListRepository,
    private readonly clock: Clock,
    @Inject(MAIL_CONFIG) private readonly config: MailConfig,
    @Inject(SECRETS_CONFIG) { masterKey }: SecretsConfig,
  ) {
    this.box = new SecretBox(masterKey);
    queue.on('error', (error) => this.logger.warn(`the mail queue: ${error.message}`));
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.underWay);
  }

  /** Sends what `write` writes. @returns what `write` returned */
  async send(
    project: Project,
    content: SealedMail,
    write: (mailId: string, sealed: Buffer) => Promise<boolean>,
  ): Promise<boolean> {
    const mailId = randomUUID();
    const sealed = this.seal(project, mailId, content);
    await this.announce(project.id);
    const job = await this.enqueue({ projectId: project.id, mailId }, UNRELEASED_DELAY_MS);
    const written = await write(mailId, sealed);
    this.inBackground(this.release(job, written));
    return written;
  }

  /**
   * Sends what `write` writes, and resolves before that: the time tells nothing of what there is to write. From then on the
   * mail is safe: a job whose mail was not written has it written from `request` (RequestedMails).
   */
  async sendLater(project: Project, request: object, write: MailWriter): Promise<void> {
    const mailId = randomUUID();
    const sealed = this.box.seal(JSON.stringify(request), requestPurposeOf(project.id, mailId));
    await this.announce(project.id);
    const data = { projectId: project.id, mailId, request: sealed.toString('base64') };
    const job = await this.enqueue(data, UNRELEASED_DELAY_MS);
    this.inBackground(this.writeAndRelease(project, job, write));
  }

  /** The request of a job, as sendLater() took it. */
  openRequest({ projectId, mailId, request = '' }: MailJob): unknown {
    return JSON.parse(this.box.open(Buffer.from(request, 'base64'), requestPurposeOf(projectId, mailId)));
  }

  /** Queues a mail that no job knows of. @returns false when there is a job that will see to it */
  async ensureQueued(projectId: string, mailId: string): Promise<boolean> {
    const job = await this.queue.getJob(mailId);
    // A job that has failed will not run again, and its mail is still to be sent: what gave it up could not note so.
    if (job && !(await job.isFailed())) return false;
    await this.sendAgain(projectId, mailId);
    return true;
  }

  /** Queues a mail that was given up once more. */
  async sendAgain(projectId: string, mailId: string): Promise<void> {
    await this.queue.remove(mailId);
    await this.enqueue({ projectId, mailId }, 0);
  }

  seal({ id }: Project, mailId: string, content: SealedMail): Buffer {
    return this.box.seal(JSON.stringify(content), purposeOf(id, mailId));
  }

  /** @throws Error when it was altered, or belongs to another mail */
  open(projectId: string, mailId: string, sealed: Buffer): SealedMail {
    return JSON.parse(this.box.open(sealed, purposeOf(projectId, mailId))) as SealedMail;
  }

  /** The recovery of lost mails must know of the project before there is a mail to lose. */
  private async announce(projectId: string): Promise<void> {
    const now = this.clock.now();
    if (now - (this.announcedAt.get(projectId) ?? -Infinity) < ANNOUNCED_MS) return;
    await this.outboxes.touch(projectId, new Date(now));
    this.announcedAt.set(projectId, now);
  }

  private async enqueue(data: MailJob, delay: number): Promise<Job<MailJob>> {
    try {
      return await this.queue.add('send', data, {
        jobId: data.mailId,
        delay,
        attempts: MAIL_ATTEMPTS,
        backoff: { type: 'exponential', delay: this.config.retryDelayMs },
        removeOnComplete: true,
        removeOnFail: { age: FAILED_JOB_SECONDS },
      });
    } catch (error) {
      throw httpError(503, 'The mail queue cannot be reached', error);
    }
  }

  private async writeAndRelease({ slug }: Project, job: Job<MailJob>, write: MailWriter): Promise<void> {
    try {
      const written = await write(job.data.mailId);
      await this.release(job, written);
    } catch (error) {
      this.logger.warn(
        `a mail of project ${slug} is not written yet, its job will try again: ${String(error)}`,
      );
    }
  }

  private async release(job: Job<MailJob>, written: boolean): Promise<void> {
    try {
      await (written ? job.promote() : job.remove());
    } catch (error) {
      // It runs by itself after its delay.
      this.logger.debug(`a mail job was not released: ${String(error)}`);
    }
  }

  /** Nobody waits for it but the shutdown. */
  private inBackground(work: Promise<void>): void {
    this.underWay.add(work);
    void work.finally(() => this.underWay.delete(work));
  }
}

function purposeOf(projectId: string, mailId: string): string {
  return `mail:${projectId}:${mailId}`;
}

function requestPurposeOf(projectId: string, mailId: string): string {
  return `mail-request:${projectId}:${mailId}`;
}
