/** Errors of the observation of requests. */
import { AppError } from '../common/errors/app-error';

export const tooManyListeners = (most: number): AppError =>
  new AppError({
    status: 503,
    code: 'service_unavailable',
    message: `This process has ${most} listeners for live requests already`,
    headers: { 'Retry-After': '10' },
  });
