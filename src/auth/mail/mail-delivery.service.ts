/** One attempt to send a mail: claimed, composed, handed over, marked. */
import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { isUnusableRecord } from '../../database/rows/record-reader';
import { MailTransport } from '../../infra/mail/mail-transport';
import { Project } from '../../projects/project';
import { AuthMetrics } from './auth-metrics.service';
import { parseEmailAddress } from '../accounts/email-address';
import { AuthMailer } from './auth-mailer.service';
import { MailComposer } from './mail-composer.service';
import { isMailKind } from './mail-kinds';
import { OutgoingMailRepository, OutgoingMailRow } from './outgoing-mail.repository';

/** `absent`: it is not written, or was sent or given up before. */
export type DeliveryOutcome = 'sent' | 'given up' | 'absent';

@Injectable()
export class MailDelivery {
  private readonly logger = new Logger('Mail');

  constructor(
    private readonly mails: OutgoingMailRepository,
    private readonly mailer: AuthMailer,
    private readonly composer: MailComposer,
    private readonly transport: MailTransport,
    private readonly metrics: AuthMetrics,
    private readonly clock: Clock,
  ) {}

  /**
   * @param isLast whether the mail is given up when it cannot be sent now
   * @throws Error when it could not be sent
   */
  async attempt(project: Project, mailId: string, isLast: boolean): Promise<DeliveryOutcome> {
    let row: OutgoingMailRow | null;
    try {
      row = await this.mails.claim(project, mailId, this.now());
    } catch (error) {
      if (!isUnusableRecord(error)) throw error;
      return this.giveUp(project, mailId, (error as Error).message);
    }
    if (!row) return 'absent';
    if (row.expiresAt.getTime() <= this.clock.now()) {
      return this.giveUp(project, mailId, 'it expired before it could be sent');
    }
    try {
      await this.deliver(project, mailId, row);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      await this.mails.markFailed(project, mailId, reason, isLast ? this.now() : null);
      this.metrics.mail(isLast ? 'given_up' : 'retried');
      this.logger.warn(`mail ${mailId} of project ${project.slug} was not sent: ${reason}`);
      throw error;
    }
    this.metrics.mail('sent');
    await this.mails.markSent(project, mailId, this.now());
    return 'sent';
  }

  private async giveUp(project: Project, mailId: string, reason: string): Promise<DeliveryOutcome> {
    await this.mails.markFailed(project, mailId, reason, this.now());
    this.metrics.mail('given_up');
    return 'given up';
  }

  private async deliver(project: Project, mailId: string, row: OutgoingMailRow): Promise<void> {
    if (!isMailKind(row.kind) || row.sealed === null)
      throw new Error(`nothing known of a mail "${row.kind}"`);
    const { to, token, newEmail, languages = [] } = this.mailer.open(project.id, mailId, row.sealed);
    const recipient = parseEmailAddress(row.recipient);
    if (!recipient || (to !== undefined && recipient.key !== to)) {
      throw new Error('its recipient is not the one that it was written to');
    }
    const content = await this.composer.compose(project, {
      kind: row.kind,
      name: row.userName,
      email: recipient.address,
      token,
      newEmail,
      lifetimeMs: row.expiresAt.getTime() - row.createdAt.getTime(),
      languages: row.userLocale === null ? languages : [row.userLocale, ...languages],
    });
    await this.transport.send({
      ...content,
      messageId: `<${mailId}@${project.id}.plinth>`,
      to: recipient.address,
      link: token === undefined ? null : this.composer.linkFor(project, row.kind, token),
      date: row.createdAt,
    });
  }

  private now(): Date {
    return new Date(this.clock.now());
  }
}
