/** Webhooks as administrators manage them, with entries of the audit log. */
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { UUID } from '../common/text/uuid';
import { Clock } from '../common/time/clock';
import { type Actor, AuditLogRepository } from '../install/audit/audit-log.repository';
import { ProjectRegistry } from '../projects/project-registry.service';
import { ProjectsService } from '../projects/projects.service';
import type { DeliveryState, StoredAttempt, StoredDelivery } from './delivery';
import { DeliveryRepository } from './delivery.repository';
import {
  assertContent,
  openSecrets,
  ROTATION_MS,
  sealSecrets,
  secretOrNew,
  type Webhook,
  type WebhookContent,
} from './webhook';
import { WebhookDispatcher } from './webhook-dispatcher.service';
import { WebhookRepository } from './webhook.repository';
import { deliveryNotFailed, deliveryNotFound, webhookNotFound } from './webhooks.errors';

@Injectable()
export class WebhooksService {
  constructor(
    private readonly projects: ProjectsService,
    private readonly registry: ProjectRegistry,
    private readonly webhooks: WebhookRepository,
    private readonly deliveries: DeliveryRepository,
    private readonly dispatcher: WebhookDispatcher,
    private readonly audit: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  async list(projectId: string): Promise<Webhook[]> {
    const found = await this.webhooks.list(await this.projects.get(projectId));
    // The project may have been restored: its webhooks are there, but no process delivers for them yet.
    if (found.length > 0) await this.dispatcher.announce(projectId);
    return found;
  }

  /**
   * @returns the secret, which is not shown again
   * @throws AppError 400 for content that is not valid, 409 if the project has too many webhooks
   */
  async create(
    projectId: string,
    content: WebhookContent,
    givenSecret: string | undefined,
    actor: Actor,
  ): Promise<{ webhook: Webhook; secret: string }> {
    assertContent(content);
    const secret = secretOrNew(givenSecret);
    const [entity, project, id] = [
      await this.projects.get(projectId),
      await this.registry.get(projectId),
      randomUUID(),
    ];
    const sealed = sealSecrets(project, id, { current: secret });
    const webhook = await this.webhooks.insert(entity, id, content, sealed);
    await this.dispatcher.announce(projectId);
    await this.note('create', projectId, webhook, actor);
    return { webhook, secret };
  }

  /** Absent members leave the values unchanged. @throws AppError 400 for content that is not valid, 404 for an unknown webhook */
  async updateWebhook(
    projectId: string,
    id: string,
    changes: Partial<Omit<WebhookContent, 'table'>>,
    actor: Actor,
  ): Promise<Webhook> {
    const entity = await this.projects.get(projectId);
    const webhook = await this.webhooks.updateWebhook(entity, knownId(id), (old) => {
      const content = { ...old, ...changes };
      assertContent(content);
      return content;
    });
    await this.dispatcher.announce(projectId);
    await this.note('update', projectId, webhook, actor);
    return webhook;
  }

  /** The old secret also signs for one more day. @throws AppError 400 for a malformed secret, 404 for an unknown webhook */
  async rotate(
    projectId: string,
    id: string,
    givenSecret: string | undefined,
    actor: Actor,
  ): Promise<{ webhook: Webhook; secret: string }> {
    const secret = secretOrNew(givenSecret);
    const [entity, project] = [await this.projects.get(projectId), await this.registry.get(projectId)];
    const webhook = await this.webhooks.setSecrets(entity, knownId(id), ({ sealedSecrets }) => {
      const previous = openSecrets(project, id, sealedSecrets)?.current;
      const previousUntil = this.clock.now() + ROTATION_MS;
      return sealSecrets(project, id, { current: secret, previous, previousUntil });
    });
    await this.note('rotate_secret', projectId, webhook, actor);
    return { webhook, secret };
  }

  /** Deletes the webhook and its deliveries. @throws AppError 404 for an unknown webhook */
  async remove(projectId: string, id: string, actor: Actor): Promise<void> {
    const webhook = await this.webhooks.remove(await this.projects.get(projectId), knownId(id));
    await this.note('delete', projectId, webhook, actor);
  }

  /** @throws AppError 404 for an unknown webhook */
  async listDeliveries(
    projectId: string,
    id: string,
    filter: { readonly state: DeliveryState | null; readonly before: string | null; readonly limit: number },
  ): Promise<StoredDelivery[]> {
    await this.webhooks.get(await this.projects.get(projectId), knownId(id));
    return this.deliveries.list(await this.registry.get(projectId), id, filter);
  }

  /** @throws AppError 404 for an unknown webhook or delivery */
  async getDelivery(
    projectId: string,
    id: string,
    deliveryId: string,
  ): Promise<{ delivery: StoredDelivery; payload: string; attempts: StoredAttempt[] }> {
    const project = await this.registry.get(projectId);
    const found = UUID.test(deliveryId) ? await this.deliveries.find(project, knownId(id), deliveryId) : null;
    if (!found) throw deliveryNotFound();
    return found;
  }

  /** @throws AppError 404 for an unknown webhook or delivery, 409 if the delivery is already waiting */
  async sendAgain(projectId: string, id: string, deliveryId: string, actor: Actor): Promise<void> {
    await this.getDelivery(projectId, id, deliveryId);
    const project = await this.registry.get(projectId);
    if (!(await this.deliveries.sendAgain(project, id, deliveryId))) throw deliveryNotFailed();
    await this.dispatcher.announce(projectId);
    const details = { webhook: id, delivery: deliveryId };
    await this.audit.write({ action: 'project.webhook.send_again', actor, projectId, details });
  }

  /** The path of a URL can contain secrets, so only the host is recorded. */
  private async note(
    what: string,
    projectId: string,
    { id, table, events, url }: Webhook,
    actor: Actor,
  ): Promise<void> {
    const details = {
      id,
      table: table?.join('.') ?? null,
      events: [...events],
      // The owner may have written any text into the column.
      host: url !== null && URL.canParse(url) ? new URL(url).host : null,
    };
    await this.audit.write({ action: `project.webhook.${what}`, actor, projectId, details });
  }
}

/** @throws AppError 404 for a text that is not an id */
function knownId(id: string): string {
  if (!UUID.test(id)) throw webhookNotFound();
  return id;
}
