/** Plans and what they limit (SPEC.md 8). */

export const PLANS = ['free', 'pro', 'enterprise'] as const;
export type Plan = (typeof PLANS)[number];

/** Storage requests a minute; enterprise is custom: the project's setting `storage_requests_per_minute` or this. */
export const STORAGE_REQUESTS_PER_MINUTE: Readonly<Record<Plan, number>> = {
  free: 100,
  pro: 1_000,
  enterprise: 10_000,
};
