/** Mail: over SMTP when SMTP_URL is set, else into files. */
import { Global, Module, OnApplicationShutdown } from '@nestjs/common';
import { MAIL_CONFIG, MailConfig } from '../../config/app-config';
import { FileTransport } from './file-transport';
import { MailTransport } from './mail-transport';
import { SmtpTransport } from './smtp-transport';
import { TemplateRenderer } from './template-renderer';

@Global()
@Module({
  providers: [
    TemplateRenderer,
    {
      provide: MailTransport,
      inject: [MAIL_CONFIG],
      useFactory: ({ smtpUrl, from, outboxDir }: MailConfig) =>
        smtpUrl ? new SmtpTransport(smtpUrl, from) : new FileTransport(outboxDir, from),
    },
  ],
  exports: [MailTransport, TemplateRenderer],
})
export class MailModule implements OnApplicationShutdown {
  constructor(private readonly transport: MailTransport) {}

  async onApplicationShutdown(): Promise<void> {
    await this.transport.close();
  }
}
