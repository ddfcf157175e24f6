/** Errors of the probes. */
import { AppError } from '../common/errors/app-error';
import type { Checks } from './readiness.service';

/** METRICS_PORT cannot be listened on. The message is for the administrator. */
export class MetricsPortError extends Error {
  constructor(host: string, port: number, { code, message }: NodeJS.ErrnoException) {
    const reason = code === 'EADDRINUSE' ? 'is taken' : `cannot be listened on (${code ?? message})`;
    super(`METRICS_PORT ${port} on ${host} ${reason}: set another port, or remove the setting.`);
    this.name = 'MetricsPortError';
  }
}

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
