/** Quotas of the plans, which QUOTAS sets. */

/** Null: no limit. */
export interface PlanQuotas {
  readonly database_quota_bytes: number | null;
  readonly requests_per_second: number | null;
  readonly requests_per_day: number | null;
  readonly mails_per_day: number | null;
}

/** Quotas by plan (docs/reference/scaling.md). */
export type PlanQuotasConfig = Readonly<Record<'free' | 'pro' | 'enterprise', PlanQuotas>>;

const NONE: PlanQuotas = {
  database_quota_bytes: null,
  requests_per_second: null,
  requests_per_day: null,
  mails_per_day: null,
};
const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};
const PLAN = /^\s*(free|pro|enterprise):(.*)$/s;
const QUOTA =
  /^(database_quota_bytes|requests_per_second|requests_per_day|mails_per_day)=([1-9]\d{0,14})([KMGT]iB)?$/;

/**
 * Parses `free: database_quota_bytes=500MiB requests_per_day=50000; pro: mails_per_day=200`.
 * @returns null if the text is malformed
 */
export function parsePlanQuotas(text: string): PlanQuotasConfig | null {
  let plans: PlanQuotasConfig = { free: NONE, pro: NONE, enterprise: NONE };
  for (const part of text.split(';').filter((one) => one.trim() !== '')) {
    const [, plan, quotas = ''] = PLAN.exec(part) ?? [];
    const parsed = plan === undefined ? null : parseQuotas(quotas);
    if (!plan || !parsed) return null;
    plans = { ...plans, [plan]: parsed };
  }
  return plans;
}

function parseQuotas(text: string): PlanQuotas | null {
  let quotas = NONE;
  for (const part of text.split(/[\s,]+/).filter(Boolean)) {
    const [, name, digits, unit = ''] = QUOTA.exec(part) ?? [];
    const amount = Number(digits) * (UNITS[unit] ?? NaN);
    if (name === undefined || !Number.isSafeInteger(amount)) return null;
    quotas = { ...quotas, [name]: amount };
  }
  return quotas;
}
