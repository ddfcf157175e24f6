/** Platform administration: webhooks of a project, and their deliveries. */
import { Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import { invalidParameters } from '../../common/errors/app-error';
import { Answer, Describe, Errors, PathErrors } from '../../http/docs/operation.decorators';
import { answerOf } from '../../http/model/fields';
import { StrictBody, StrictQuery } from '../../http/input/strict-input.decorator';
import { Actor } from '../../install/audit/audit-log.repository';
import { StaffApi, CurrentActor } from '../../staff/http/staff-api.decorator';
import { MAX_WEBHOOKS } from '../webhook';
import {
  deliveryNotFailed,
  deliveryNotFound,
  tooManyWebhooks,
  webhookNotFound,
  webhookRefused,
} from '../webhooks.errors';
import { WebhooksService } from '../webhooks.service';
import {
  CreateWebhookDto,
  DeliveryDetailsResponse,
  DeliveryResponse,
  ListDeliveriesQuery,
  RotateWebhookSecretDto,
  shownOf,
  UpdateWebhookDto,
  WebhookResponse,
  WebhookWithSecretResponse,
} from './webhooks.dto';

const DEFAULT_LIMIT = 50;
const REFUSED = webhookRefused('column "totl" does not exist');

@StaffApi()
@PathErrors({ ':webhook_id': webhookNotFound(), ':delivery_id': deliveryNotFound() })
@Controller('admin/v1/projects/:id/webhooks')
export class WebhooksController {
  constructor(private readonly webhooks: WebhooksService) {}

  @Get()
  @Describe(`List the webhooks of a project
    In the order of their creation, at most ${MAX_WEBHOOKS}. Secrets are not shown.`)
  @Answer(200, 'The webhooks', [WebhookResponse])
  async listWebhooks(@Param('id') projectId: string): Promise<WebhookResponse[]> {
    return (await this.webhooks.list(projectId)).map((one) => answerOf(WebhookResponse, shownOf(one)));
  }

  @Post()
  @Describe(`Create a webhook
    Creates a trigger for each event, so that deliveries are queued in the transaction of the change. Each delivery is a POST request, signed as Standard Webhooks says. The answer has the secret, which is not shown again.`)
  @Answer(201, 'The webhook with its secret', WebhookWithSecretResponse)
  @Errors(invalidParameters('url is required'), REFUSED, tooManyWebhooks(MAX_WEBHOOKS))
  async createWebhook(
    @Param('id') projectId: string,
    @StrictBody() body: CreateWebhookDto,
    @CurrentActor() actor: Actor,
  ): Promise<WebhookWithSecretResponse> {
    const { schema, table, events, secret } = body;
    const content = {
      table: (table ?? null) === null ? null : ([schema ?? 'public', table ?? ''] as const),
      events,
      columns: body.columns ?? null,
      condition: body.condition ?? null,
      url: body.url ?? null,
      enabled: body.enabled ?? true,
    };
    const created = await this.webhooks.create(projectId, content, secret ?? undefined, actor);
    return answerOf(WebhookWithSecretResponse, { ...shownOf(created.webhook), secret: created.secret });
  }

  @Patch(':webhook_id')
  @Describe(`Change a webhook
    Members that are left out stay as they are. Its triggers are created again.`)
  @Answer(200, 'The changed webhook', WebhookResponse)
  @Errors(invalidParameters('url is required'), REFUSED)
  async updateWebhook(
    @Param('id') projectId: string,
    @Param('webhook_id') id: string,
    @StrictBody() { events, columns, condition, url, enabled }: UpdateWebhookDto,
    @CurrentActor() actor: Actor,
  ): Promise<WebhookResponse> {
    const changes = {
      ...(events ? { events } : {}),
      ...(columns === undefined ? {} : { columns }),
      ...(condition === undefined ? {} : { condition }),
      ...(url ? { url } : {}),
      ...((enabled ?? null) === null ? {} : { enabled }),
    };
    const webhook = await this.webhooks.updateWebhook(projectId, id, changes, actor);
    return answerOf(WebhookResponse, shownOf(webhook));
  }

  @Post(':webhook_id/secret')
  @Describe(`Give a webhook another secret
    Deliveries have signatures of both secrets for a day. The answer has the new one, which is not shown again.`)
  @Answer(200, 'The webhook with its secret', WebhookWithSecretResponse)
  @Errors(invalidParameters('secret must be whsec_ and 24 to 64 bytes as base64'))
  async rotateWebhookSecret(
    @Param('id') projectId: string,
    @Param('webhook_id') id: string,
    @StrictBody() { secret }: RotateWebhookSecretDto,
    @CurrentActor() actor: Actor,
  ): Promise<WebhookWithSecretResponse> {
    const rotated = await this.webhooks.rotate(projectId, id, secret ?? undefined, actor);
    return answerOf(WebhookWithSecretResponse, { ...shownOf(rotated.webhook), secret: rotated.secret });
  }

  @Delete(':webhook_id')
  @Describe(`Delete a webhook
    Its triggers and deliveries are deleted as well.`)
  @Answer(204, 'It is deleted')
  async deleteWebhook(
    @Param('id') projectId: string,
    @Param('webhook_id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.webhooks.remove(projectId, id, actor);
  }

  @Get(':webhook_id/deliveries')
  @Describe(`List the deliveries of a webhook
    The newest first. Delivered ones are kept for three days, failed ones for thirty.`)
  @Answer(200, 'A page of deliveries', [DeliveryResponse])
  @Errors(invalidParameters('limit must not be greater than 200'))
  async listWebhookDeliveries(
    @Param('id') projectId: string,
    @Param('webhook_id') id: string,
    @StrictQuery() { state, before, limit }: ListDeliveriesQuery,
  ): Promise<DeliveryResponse[]> {
    const filter = { state: state ?? null, before: before ?? null, limit: limit ?? DEFAULT_LIMIT };
    return this.webhooks.listDeliveries(projectId, id, filter);
  }

  @Get(':webhook_id/deliveries/:delivery_id')
  @Describe(`Get a delivery with its body and its attempts
    The body may hold data of the table.`)
  @Answer(200, 'The delivery', DeliveryDetailsResponse)
  async getWebhookDelivery(
    @Param('id') projectId: string,
    @Param('webhook_id') id: string,
    @Param('delivery_id') deliveryId: string,
  ): Promise<DeliveryDetailsResponse> {
    const { delivery, payload, attempts } = await this.webhooks.getDelivery(projectId, id, deliveryId);
    return { ...delivery, payload, attempt_list: attempts };
  }

  @Post(':webhook_id/deliveries/:delivery_id/retry')
  @Describe(`Send a delivery again
    One that failed or was delivered. It is retried for three days from its first attempt.`)
  @Answer(204, 'It is queued')
  @Errors(deliveryNotFailed())
  async retryWebhookDelivery(
    @Param('id') projectId: string,
    @Param('webhook_id') id: string,
    @Param('delivery_id') deliveryId: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.webhooks.sendAgain(projectId, id, deliveryId, actor);
  }
}
