/** Errors of the probes. */
import { AppError } from '../common/errors/app-error';
import type { Checks } from './readiness.service';

/** 503, with the failed checks in the body. */
export function notReady(checks: Checks): AppError {
  const down = Object.entries(checks).filter(([, check]) => check.status === 'down');
  return new AppError({
    status: 503,
    code: 'not_ready',
    message: `Not ready: ${down.map(([name, { reason }]) => `${name} (${reason ?? 'down'})`).join(', ')}`,
    headers: { 'Retry-After': '1' },
    extra: { checks },
    details: { checks },
  });
}
