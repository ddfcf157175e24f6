/** Webhooks and schedules of projects. */
import { FolderModule } from '../infra/folder-module';
import { WEBHOOK_CONFIG, type WebhookConfig } from '../config/app-config';
import { OutboundHttp } from '../infra/outbound/outbound-http';
import { ProjectsModule } from '../projects/projects.module';
import { SqlModule } from '../sql/sql.module';
import { SchedulesController } from './http/schedules.controller';
import { WebhooksController } from './http/webhooks.controller';
import { WEBHOOK_HTTP } from './webhook-sender.service';

const OUTBOUND = {
  provide: WEBHOOK_HTTP,
  inject: [WEBHOOK_CONFIG],
  useFactory: ({ allowedHosts }: WebhookConfig) => new OutboundHttp(allowedHosts, ['https:', 'http:']),
};

@FolderModule(__dirname, {
  imports: [ProjectsModule, SqlModule],
  controllers: [SchedulesController, WebhooksController],
  providers: [OUTBOUND],
})
export class WebhooksModule {}
