/** Settings of Realtime and of webhooks (docs/reference/realtime.md, docs/reference/webhooks.md). */
import { flag, integer } from './setting';

export const REALTIME_SETTINGS = {
  realtime_public_channels: flag({
    fallback: true,
    description: 'Clients may join channels that are not private, for which no policy is asked',
  }),

  realtime_sockets: integer({
    fallback: 5_000,
    description: 'Maximum number of open WebSockets of the project in each process',
    details: 'Only operators set it. See [limits](realtime.md#limits).',
    minimum: 0,
    maximum: 1_000_000,
  }),

  webhook_queue_rows: integer({
    fallback: 1_000_000,
    description: 'Maximum number of deliveries of webhooks that wait; the oldest are skipped beyond it',
    details: 'Only operators set it. See [the queue](webhooks.md#the-queue).',
    minimum: 1,
    maximum: 10_000_000,
  }),

  webhook_queue_bytes: integer({
    fallback: 2 ** 30,
    description: 'Maximum bytes of the deliveries of webhooks that wait; the oldest are skipped beyond it',
    details: 'Only operators set it. See [the queue](webhooks.md#the-queue).',
    minimum: 1,
  }),
};
