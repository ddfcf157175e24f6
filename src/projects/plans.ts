/** Plans and what they limit (SPEC.md 8). */

export const PLANS = ['free', 'pro', 'enterprise'] as const;
export type Plan = (typeof PLANS)[number];

/** Storage requests a minute; enterprise is custom: the project's setting `storage_requests_per_minute` or this. */
export const STORAGE_REQUESTS_PER_MINUTE: Readonly<Record<Plan, number>> = {
  free: 100,
  pro: 1_000,
  enterprise: 10_000,
};

const GIB = 1024 ** 3;

/** What all buckets of a project may hold together; the settings `storage_quota_bytes` and `_files` override it. */
export const STORAGE_QUOTA: Readonly<Record<Plan, { bytes: number | null; files: number | null }>> = {
  free: { bytes: 50 * GIB, files: 10_000_000 },
  pro: { bytes: 1_024 * GIB, files: 100_000_000 },
  enterprise: { bytes: null, files: null },
};
