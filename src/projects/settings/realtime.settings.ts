/** Settings of Realtime (docs/reference/realtime.md). */
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
};
