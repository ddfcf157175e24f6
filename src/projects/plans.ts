/** Plans and their limits. */

export const PLANS = ['free', 'pro', 'enterprise'] as const;
export type Plan = (typeof PLANS)[number];

/** Storage requests per minute. The setting `storage_requests_per_minute` overrides them, for custom enterprise plans. */
export const STORAGE_REQUESTS_PER_MINUTE: Readonly<Record<Plan, number>> = {
  free: 100,
  pro: 1_000,
  enterprise: 10_000,
};
