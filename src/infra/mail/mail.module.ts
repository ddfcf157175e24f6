/** Mail: over SMTP when SMTP_URL is set, else into files. */
import { BullModule } from '@nestjs/bullmq';
import { Global, Module, OnApplicationShutdown } from '@nestjs/common';
import { MAIL_CONFIG, MailConfig } from '../../config/app-config';
import { QueueModule } from '../queue/queue.module';
import { FileTransport } from './file-transport';
import { MAIL_QUEUE } from './mail-queue';
import { MailTransport } from './mail-transport';
import { PlatformMails } from './platform-mail.service';
import { SmtpTransport } from './smtp-transport';
import { TemplateRenderer } from './template-renderer';

@Global()
@Module({
  imports: [QueueModule, BullModule.registerQueue({ name: MAIL_QUEUE })],
  providers: [
    PlatformMails,
    TemplateRenderer,
    {
      provide: MailTransport,
      inject: [MAIL_CONFIG],
      useFactory: ({ smtpUrl, from, outboxDir }: MailConfig) =>
        smtpUrl ? new SmtpTransport(smtpUrl, from) : new FileTransport(outboxDir, from),
    },
  ],
  exports: [BullModule, MailTransport, PlatformMails, TemplateRenderer],
})
export class MailModule implements OnApplicationShutdown {
  constructor(private readonly transport: MailTransport) {}

  async onApplicationShutdown(): Promise<void> {
    await this.transport.close();
  }
}
