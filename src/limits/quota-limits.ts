/** The quotas of a project, and the errors when one is used up. */
import { AppError } from '../common/errors/app-error';
import type { PlanQuotas, PlanQuotasConfig } from '../config/plan-quotas';
import type { Project } from '../projects/project';

export type QuotaName = 'database' | 'requests' | 'mails';

/** Percentages of a quota at which a first and a second warning are given. */
const MARKS = [95, 80] as const;

/** The quotas in the project's settings, or else those of its plan. */
export function quotaLimits({ plan, settings }: Project, plans: PlanQuotasConfig): PlanQuotas {
  return {
    database_quota_bytes: settings.database_quota_bytes ?? plans[plan].database_quota_bytes,
    requests_per_second: settings.requests_per_second ?? plans[plan].requests_per_second,
    requests_per_day: settings.requests_per_day ?? plans[plan].requests_per_day,
    mails_per_day: settings.mails_per_day ?? plans[plan].mails_per_day,
  };
}

/** 80, 95 or 100 if that share of the quota is used, else 0. */
export function quotaMark(used: number, limit: number | null): number {
  if (limit === null) return 0;
  return used >= limit ? 100 : (MARKS.find((percent) => used * 100 >= limit * percent) ?? 0);
}

/** 413, as for the quota of files. */
export const databaseFull = (limit: number): AppError =>
  new AppError(
    413,
    'quota_exceeded',
    `The database of the project has reached its quota of ${limit} bytes; only reads and deletions are possible`,
    { database: { sqlstate: 'PL413', hint: 'Delete rows and run VACUUM FULL, or have the quota raised.' } },
  );

/** @param retryAfterMs milliseconds until the quota is available again */
export const spentForToday = (what: 'requests' | 'mails', limit: number, retryAfterMs: number): AppError =>
  spent(`${limit} ${what} of a day`, retryAfterMs);

/** @param retryAfterMs milliseconds until the next request is admitted */
export const spentForNow = (limit: number, retryAfterMs: number): AppError =>
  spent(`${limit} requests of a second`, retryAfterMs);

const spent = (what: string, retryAfterMs: number): AppError =>
  new AppError(429, 'rate_limited', `The project has used its ${what}`, {
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) },
    database: { sqlstate: 'PL429' },
  });
