/** Errors of the probes. */
import { AppError } from '../common/errors/app-error';
import type { Checks } from './readiness.service';

/** The body says what is down. */
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
