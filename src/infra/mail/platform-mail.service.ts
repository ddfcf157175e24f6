/** Mails of the installation itself, such as invitations. They belong to no project, so the job contains the mail, encrypted. */
import { InjectQueue } from '@nestjs/bullmq';
import { Inject, Injectable } from '@nestjs/common';
import type { Job, Queue } from 'bullmq';
import { Clock } from '../../common/time/clock';
import { MAIL_CONFIG, MailConfig, SECRETS_CONFIG, SecretsConfig } from '../../config/app-config';
import { SecretBox } from '../crypto/secret-box';
import { MailTransport } from './mail-transport';
import { MAIL_QUEUE, MailJob, mailJobOptions } from './mail-queue';

/** Jobs per page. */
const PAGE = 500;

interface PlatformMail {
  /** A UUID, also used for the job, so that the same mail is queued once. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly link: string;
  readonly createdAt: Date;
  /** The time at which its link expires; the mail is not sent after it. */
  readonly expiresAt: Date;
}

@Injectable()
export class PlatformMails {
  private readonly box: SecretBox;

  constructor(
    @InjectQueue(MAIL_QUEUE) private readonly queue: Queue<MailJob>,
    private readonly transport: MailTransport,
    private readonly clock: Clock,
    @Inject(MAIL_CONFIG) private readonly config: MailConfig,
    @Inject(SECRETS_CONFIG) { masterKey, otherMasterKey }: SecretsConfig,
  ) {
    this.box = new SecretBox(masterKey, otherMasterKey);
  }

  /** Queues a mail; it is retried like the mails of projects. */
  async send(mail: PlatformMail): Promise<void> {
    const platformMail = this.box.seal(JSON.stringify(mail), purposeOf(mail.id)).toString('base64');
    const options = mailJobOptions(mail.id, this.config.retryDelayMs);
    await this.queue.add('send', { projectId: '', mailId: mail.id, platformMail }, options);
  }

  /** Re-encrypts waiting mails under MASTER_KEY. */
  async reseal(): Promise<void> {
    for (let start = 0; ; start += PAGE) {
      const jobs: Job<MailJob>[] = await this.queue.getJobs(
        ['waiting', 'delayed', 'active'],
        start,
        start + PAGE - 1,
      );
      for (const job of jobs) {
        const { mailId, platformMail } = job.data;
        const sealed =
          platformMail && this.box.reseal(Buffer.from(platformMail, 'base64'), purposeOf(mailId));
        if (sealed) await job.updateData({ ...job.data, platformMail: sealed.toString('base64') });
      }
      if (jobs.length === 0) return;
    }
  }

  /** Sends the mail of a job. @throws Error if it could not be sent, or was altered */
  async deliver(mailId: string, platformMail: string): Promise<void> {
    const text = this.box.open(Buffer.from(platformMail, 'base64'), purposeOf(mailId));
    const {
      createdAt,
      expiresAt,
      id,
      to,
      subject,
      text: body,
      html,
      link,
    } = JSON.parse(text) as PlatformMail;
    if (new Date(expiresAt).getTime() <= this.clock.now()) return;
    const messageId = `<${id}@plinth>`;
    await this.transport.send({ messageId, to, subject, text: body, html, link, date: new Date(createdAt) });
  }
}

const purposeOf = (id: string): string => `platform-mail:${id}`;
