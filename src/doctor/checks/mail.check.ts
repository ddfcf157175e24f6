/** Checks whether the mail server accepts the login, or a test mail. */
import { Inject, Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { messageOf } from '../../common/errors/error-facts';
import { Clock } from '../../common/time/clock';
import { APP_CONFIG, AppConfig } from '../../config/app-config';
import { MailTransport } from '../../infra/mail/mail-transport';
import { DoctorCheck, DoctorOptions, Finding } from '../finding';

@Injectable()
export class MailCheck extends DoctorCheck {
  readonly name = 'mail';

  constructor(
    private readonly transport: MailTransport,
    private readonly clock: Clock,
    @Inject(APP_CONFIG) private readonly config: AppConfig,
  ) {
    super();
  }

  async find({ mailTo }: DoctorOptions): Promise<Finding[]> {
    const { smtpUrl, outboxDir, from } = this.config.mail;
    if (smtpUrl === null) {
      return [
        this.warning(`SMTP_URL is not set: mails are files in ${outboxDir}`, 'Set SMTP_URL and MAIL_FROM.'),
      ];
    }
    const server = new URL(smtpUrl).host;
    try {
      if (mailTo === null) {
        await this.transport.verify();
        return [this.ok(`the mail server ${server} accepts the login; --mail-to sends a test mail`)];
      }
      await this.transport.send(this.testMail(mailTo));
      return [this.ok(`the mail server ${server} accepted a mail from ${from} to ${mailTo}`)];
    } catch (error) {
      return [
        this.failed(
          `the mail server ${server} does not accept mail: ${messageOf(error)}`,
          'Check host, port, user and password in SMTP_URL, and that the server accepts MAIL_FROM as a sender.',
        ),
      ];
    }
  }

  private testMail(to: string): Parameters<MailTransport['send']>[0] {
    const text = 'This is a test mail of plinth doctor. Mails of your projects take the same path.';
    return {
      messageId: `<${randomUUID()}@plinth>`,
      to,
      subject: 'Test mail of Plinth',
      text,
      html: `<p>${text}</p>`,
      link: null,
      date: this.clock.date(),
    };
  }
}
