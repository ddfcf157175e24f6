/**
 * Sends a mail with sample values immediately, so that an administrator can test templates and the mail server. All projects
 * share the mail server, and a service-role key may choose recipient and content, so these mails are limited per address, per
 * project and by the quota of mails.
 */
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { rateLimited } from '../../access/access.errors';
import { messageOf } from '../../common/errors/error-facts';
import { Clock } from '../../common/time/clock';
import { MailTemplate } from '../../infra/mail/mail-template';
import { MailTransport } from '../../infra/mail/mail-transport';
import { Project } from '../../projects/project';
import { ProjectQuotas } from '../../limits/project-quotas.service';
import { getEmailAddress } from '../../identity/email-address';
import { GuessThrottle } from '../../identity/guess-throttle.service';
import { mailNotSent } from '../auth.errors';
import { MailComposer } from './mail-composer.service';
import { MailKind } from './mail-kinds';

/** Retry-After, in seconds, while another test mail of the project is being sent. */
const BUSY_SECONDS = 1;

@Injectable()
export class TestMailService {
  /** Ids of the projects whose test mail is being sent by this process. */
  private readonly sending = new Set<string>();

  constructor(
    private readonly composer: MailComposer,
    private readonly transport: MailTransport,
    private readonly throttle: GuessThrottle,
    private readonly quotas: ProjectQuotas,
    private readonly clock: Clock,
  ) {}

  /**
   * @param draft replaces parts of the project's template
   * @throws AppError 400 for an address or a template that is not valid, 429 while another test mail of the project is being
   * sent, after too many of them, or if the quota of mails for today is used up, 502 if the mail server refuses the mail
   */
  async send(
    project: Project,
    mail: { to: string; kind: MailKind; language?: string },
    draft: Partial<MailTemplate>,
  ): Promise<void> {
    if (this.sending.has(project.id)) throw rateLimited(BUSY_SECONDS);
    this.sending.add(project.id);
    try {
      await this.sendAlone(project, mail, draft);
    } finally {
      this.sending.delete(project.id);
    }
  }

  private async sendAlone(
    project: Project,
    { to, ...mail }: { to: string; kind: MailKind; language?: string },
    draft: Partial<MailTemplate>,
  ): Promise<void> {
    const { address, key } = getEmailAddress(to);
    const composed = await this.composer.preview(project, mail, draft);
    await this.throttle.assertMayTestMail(project, key);
    await this.quotas.spendMail(project);
    const messageId = `<${randomUUID()}@${project.id}.plinth>`;
    const date = this.clock.date();
    try {
      await this.transport.send({ ...composed, messageId, to: address, link: null, date });
    } catch (error) {
      throw mailNotSent(messageOf(error), error);
    }
  }
}
