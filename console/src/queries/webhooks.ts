/** Webhooks of a project and their deliveries. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, dataOf, type Schema } from '../api/client';
import type { Project } from './projects';

export type Webhook = Schema<'WebhookResponse'>;
export type WebhookEvent = Webhook['events'][number];
export type Delivery = Schema<'DeliveryResponse'>;

const PAGE = 50;
/** Shows an attempt soon after it was made. */
const REFRESH_MS = 3_000;

/** Webhooks have no name: their table, or their events. */
export const webhookName = ({
  schema,
  table,
  events,
}: Pick<Webhook, 'schema' | 'table' | 'events'>): string =>
  table === null ? events.join(', ') : `${schema ?? ''}.${table}`;

const pathOf = (project: Project, webhook: Webhook) => ({ path: { id: project.id, webhook_id: webhook.id } });
const deliveryPathOf = (project: Project, webhook: Webhook, { id }: Delivery) => ({
  path: { id: project.id, webhook_id: webhook.id, delivery_id: id },
});

export const webhooksQuery = ({ id }: Project) =>
  queryOptions({
    queryKey: ['webhooks', id],
    queryFn: () => dataOf(api.GET('/admin/v1/projects/{id}/webhooks', { params: { path: { id } } })),
  });

export const createWebhook = ({ id }: Project, body: Schema<'CreateWebhookDto'>) =>
  dataOf(api.POST('/admin/v1/projects/{id}/webhooks', { params: { path: { id } }, body }));

export const updateWebhook = (project: Project, webhook: Webhook, body: Schema<'UpdateWebhookDto'>) =>
  dataOf(
    api.PATCH('/admin/v1/projects/{id}/webhooks/{webhook_id}', { params: pathOf(project, webhook), body }),
  );

export const rotateWebhookSecret = (project: Project, webhook: Webhook) =>
  dataOf(
    api.POST('/admin/v1/projects/{id}/webhooks/{webhook_id}/secret', {
      params: pathOf(project, webhook),
      body: {},
    }),
  );

export const removeWebhook = (project: Project, webhook: Webhook) =>
  api.DELETE('/admin/v1/projects/{id}/webhooks/{webhook_id}', { params: pathOf(project, webhook) });

export const deliveriesQuery = (project: Project, webhook: Webhook) =>
  infiniteQueryOptions({
    queryKey: ['deliveries', project.id, webhook.id],
    queryFn: ({ pageParam: before }) =>
      dataOf(
        api.GET('/admin/v1/projects/{id}/webhooks/{webhook_id}/deliveries', {
          params: {
            ...pathOf(project, webhook),
            query: { limit: PAGE, ...(before === null ? {} : { before }) },
          },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => (page.length < PAGE ? null : page.at(-1)!.id),
    refetchInterval: REFRESH_MS,
  });

/** A delivery with its attempts, refetched after each attempt. */
export const deliveryQuery = (project: Project, webhook: Webhook, delivery: Delivery) =>
  queryOptions({
    queryKey: ['delivery', project.id, delivery.id, delivery.attempts],
    queryFn: () =>
      dataOf(
        api.GET('/admin/v1/projects/{id}/webhooks/{webhook_id}/deliveries/{delivery_id}', {
          params: deliveryPathOf(project, webhook, delivery),
        }),
      ),
  });

export const sendAgain = (project: Project, webhook: Webhook, delivery: Delivery) =>
  api.POST('/admin/v1/projects/{id}/webhooks/{webhook_id}/deliveries/{delivery_id}/retry', {
    params: deliveryPathOf(project, webhook, delivery),
  });
