/** One attempt to send a mail: claim it, compose it, hand it to the mail server, record the outcome. */
import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../common/time/clock';
import { isUnusableRecord } from '../../database/rows/record-reader';
import { History } from '../../install/history/history.service';
import { MailTransport } from '../../infra/mail/mail-transport';
import { Project } from '../../projects/project';
import { EmailAddress, parseEmailAddress } from '../../identity/email-address';
import { Hooks } from '../hooks/hooks.service';
import { MailComposer } from './mail-composer.service';
import { isMailKind } from './mail-kinds';
import { MailMetrics } from './mail-metrics.service';
import { MailSealer, SealedMail } from './mail-sealer.service';
import { OutgoingMail } from './outgoing-mail';
import { OutgoingMailRepository } from './outgoing-mail.repository';
import { RequestedMails } from './requested-mails.service';

@Injectable()
export class MailDelivery {
  private readonly logger = new Logger('Mail');

  constructor(
    private readonly mails: OutgoingMailRepository,
    private readonly requests: RequestedMails,
    private readonly sealer: MailSealer,
    private readonly composer: MailComposer,
    private readonly transport: MailTransport,
    private readonly metrics: MailMetrics,
    private readonly hooks: Hooks,
    private readonly clock: Clock,
    private readonly history: History,
  ) {}

  /**
   * @param isLast whether the mail is given up if this attempt fails
   * @param mayResolve false once a request was resolved: a trigger of the owner could undo it again and again
   * @throws Error if the mail could not be sent
   */
  async attempt(project: Project, mailId: string, isLast: boolean, mayResolve = true): Promise<void> {
    let mail: OutgoingMail | null;
    try {
      mail = await this.mails.claim(project, mailId, this.clock.date());
    } catch (error) {
      if (error instanceof Error && isUnusableRecord(error))
        return this.giveUp(project, mailId, error.message);
      throw error;
    }
    // The mail was sent, given up, or deleted with its user.
    if (!mail) return;
    if (mail.expiresAt.getTime() <= this.clock.now())
      return this.giveUp(project, mailId, 'it expired before it could be sent');
    if (mail.isRequest) {
      if (!mayResolve) return this.giveUp(project, mailId, 'its account could not be stored');
      const resolving = this.requests.resolve(project, mailId, mail);
      const isMail = await this.guarded(project, mailId, isLast, resolving);
      return isMail ? this.attempt(project, mailId, isLast, false) : undefined;
    }
    const began = performance.now();
    const note = (error: string | null): void =>
      this.history.note(project.id, {
        source: 'mail',
        path: mail.kind,
        ms: performance.now() - began,
        error,
        request_id: mailId,
      });
    await this.guarded(project, mailId, isLast, this.deliver(project, mailId, mail)).catch(
      (error: unknown) => {
        note(isLast ? 'given_up' : 'retried');
        throw error;
      },
    );
    note(null);
    this.metrics.count('sent');
    await this.mails.markSent(project, mailId, this.clock.date());
  }

  private async guarded<T>(project: Project, mailId: string, isLast: boolean, work: Promise<T>): Promise<T> {
    return work.catch((error: unknown) => this.fail(project, mailId, error, isLast));
  }

  private async giveUp(project: Project, mailId: string, reason: string): Promise<void> {
    await this.mails.markFailed(project, mailId, reason, this.clock.date());
    this.metrics.count('given_up');
  }

  private async fail(project: Project, mailId: string, error: unknown, isLast: boolean): Promise<never> {
    const reason = error instanceof Error ? error.message : String(error);
    await this.mails.markFailed(project, mailId, reason, isLast ? this.clock.date() : null);
    this.metrics.count(isLast ? 'given_up' : 'retried');
    this.logger.warn(`mail ${mailId} of project ${project.slug} was not sent: ${reason}`);
    throw error;
  }

  private async deliver(project: Project, mailId: string, mail: OutgoingMail): Promise<void> {
    const { kind, sealed, createdAt } = mail;
    if (!isMailKind(kind) || sealed === null) throw new Error(`nothing known of a mail "${kind}"`);
    const content = this.sealer.open(project.id, mailId, sealed);
    const { address } = recipientOf(mail, content);
    const { token, code, redirectTo, newEmail, device } = content;
    if (project.settings.send_email_hook !== null) {
      const email_data = {
        email_action_type: kind,
        token: code ?? '',
        token_hash: token ?? '',
        redirect_to: redirectTo ?? '',
        site_url: project.settings.site_url ?? '',
        new_email: newEmail ?? '',
        ...(device ? { device: { ...device, signed_in_at: createdAt.toISOString() } } : {}),
      };
      const user = { email: address, name: mail.userName };
      // An error is a failed attempt: the mail is tried again.
      return this.hooks.runHook(project, 'send_email_hook', { user, email_data }, mailId);
    }
    const composed = await this.composer.compose(project, {
      kind,
      name: mail.userName,
      email: address,
      token,
      code,
      redirectTo,
      newEmail,
      device,
      date: createdAt,
      lifetimeMs: mail.expiresAt.getTime() - createdAt.getTime(),
      languages: languagesOf(mail, content),
    });
    const messageId = `<${mailId}@${project.id}.plinth>`;
    const link = token === undefined ? null : this.composer.linkFor(project, kind, token, redirectTo);
    await this.transport.send({ ...composed, messageId, to: address, link, date: createdAt });
  }
}

/** @throws Error if the mail was sealed for another address */
function recipientOf(mail: OutgoingMail, { to }: SealedMail): EmailAddress {
  const recipient = parseEmailAddress(mail.recipient);
  if (!recipient || (to !== undefined && recipient.key !== to)) {
    throw new Error('its recipient is not the one that it was written to');
  }
  return recipient;
}

/** The user's own language comes before the languages of the request. */
function languagesOf({ userLocale }: OutgoingMail, { languages = [] }: SealedMail): readonly string[] {
  return userLocale === null ? languages : [userLocale, ...languages];
}
