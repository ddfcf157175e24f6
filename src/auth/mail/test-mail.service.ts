/** Sends a mail with sample values at once, so that an administrator sees templates and the mail server at work. */
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { messageOf } from '../../common/errors/error-facts';
import { Clock } from '../../common/time/clock';
import { MailTemplate } from '../../infra/mail/mail-template';
import { MailTransport } from '../../infra/mail/mail-transport';
import { Project } from '../../projects/project';
import { getEmailAddress } from '../accounts/email-address';
import { mailNotSent } from '../auth.errors';
import { MailComposer } from './mail-composer.service';
import { MailKind } from './mail-kinds';

@Injectable()
export class TestMailService {
  constructor(
    private readonly composer: MailComposer,
    private readonly transport: MailTransport,
    private readonly clock: Clock,
  ) {}

  /**
   * @param draft parts that replace those of the project's template
   * @throws AppError 400 for an address or a template that is not valid, 502 if the mail server refuses the mail
   */
  async send(
    project: Project,
    { to, ...mail }: { to: string; kind: MailKind; language?: string },
    draft: Partial<MailTemplate>,
  ): Promise<void> {
    const { address } = getEmailAddress(to);
    const composed = await this.composer.preview(project, mail, draft);
    const messageId = `<${randomUUID()}@${project.id}.plinth>`;
    const date = new Date(this.clock.now());
    try {
      await this.transport.send({ ...composed, messageId, to: address, link: null, date });
    } catch (error) {
      throw mailNotSent(messageOf(error), error);
    }
  }
}
