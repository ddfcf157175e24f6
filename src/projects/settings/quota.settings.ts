/** Quotas that the operator of the installation grants a project (docs/reference/scaling.md). Administrators of a project cannot set them. */
import { integer } from './setting';

export const QUOTA_SETTINGS = {
  database_quota_bytes: integer({
    fallback: null,
    fallbackText: "the plan's",
    description: 'Size of the database in bytes at which table REST begins to refuse inserts and updates',
    details: 'Only operators set it. See [quotas](scaling.md#quotas).',
    minimum: 1,
  }),

  requests_per_second: integer({
    fallback: null,
    fallbackText: "the plan's",
    description: 'Maximum number of requests per second to each process',
    details: 'Only operators set it. See [quotas](scaling.md#quotas).',
    minimum: 1,
  }),

  requests_per_day: integer({
    fallback: null,
    fallbackText: "the plan's",
    description: 'Maximum number of requests per day (UTC)',
    details: 'Only operators set it. See [quotas](scaling.md#quotas).',
    minimum: 1,
  }),

  mails_per_day: integer({
    fallback: null,
    fallbackText: "the plan's",
    description: 'Maximum number of mails in 24 hours',
    details: 'Only operators set it. See [quotas](scaling.md#quotas).',
    minimum: 1,
  }),
};

/** Settings of files that override the limits of the plan. */
const STORAGE_LIMITS: readonly string[] = [
  'storage_requests_per_minute',
  'storage_quota_bytes',
  'storage_quota_files',
  'realtime_sockets',
  'webhook_queue_rows',
  'webhook_queue_bytes',
];

/** Whether a change of settings needs the rights of an operator. */
export function changesQuotas(settings: object): boolean {
  return Object.keys(settings).some(
    (name) => Object.hasOwn(QUOTA_SETTINGS, name) || STORAGE_LIMITS.includes(name),
  );
}
