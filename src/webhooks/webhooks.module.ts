/** Webhooks and schedules of projects. */
import { Module } from '@nestjs/common';
import { WEBHOOK_CONFIG, type WebhookConfig } from '../config/app-config';
import { OutboundHttp } from '../infra/outbound/outbound-http';
import { ProjectsModule } from '../projects/projects.module';
import { SqlModule } from '../sql/sql.module';
import { DeliveryMetrics } from './delivery-metrics.service';
import { DeliveryRepository } from './delivery.repository';
import { HookStatements } from './hook-statements.service';
import { SchedulesController } from './http/schedules.controller';
import { WebhooksController } from './http/webhooks.controller';
import { ScheduleRepository } from './schedules/schedule.repository';
import { SchedulesService } from './schedules/schedules.service';
import { WebhookDispatcher } from './webhook-dispatcher.service';
import { WebhookProjectsRepository } from './webhook-projects.repository';
import { WEBHOOK_HTTP, WebhookSender } from './webhook-sender.service';
import { WebhookRepository } from './webhook.repository';
import { WebhooksService } from './webhooks.service';

const OUTBOUND = {
  provide: WEBHOOK_HTTP,
  inject: [WEBHOOK_CONFIG],
  useFactory: ({ allowedHosts }: WebhookConfig) => new OutboundHttp(allowedHosts, ['https:', 'http:']),
};

@Module({
  imports: [ProjectsModule, SqlModule],
  controllers: [SchedulesController, WebhooksController],
  providers: [
    DeliveryMetrics,
    DeliveryRepository,
    HookStatements,
    OUTBOUND,
    ScheduleRepository,
    SchedulesService,
    WebhookDispatcher,
    WebhookProjectsRepository,
    WebhookRepository,
    WebhookSender,
    WebhooksService,
  ],
  exports: [WebhookProjectsRepository],
})
export class WebhooksModule {}
