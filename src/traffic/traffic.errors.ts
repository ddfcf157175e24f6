/** Errors of the observation of requests. */
import { AppError } from '../common/errors/app-error';

/** @param of whose limit is reached: that of the whole process concerns everybody */
export const tooManyListeners = (of: 'person' | 'project' | 'process'): AppError =>
  new AppError({
    status: of === 'process' ? 503 : 429,
    code: of === 'process' ? 'service_unavailable' : 'rate_limited',
    message: `This ${of} has as many listeners for live requests as it may have`,
    headers: { 'Retry-After': '10' },
  });
