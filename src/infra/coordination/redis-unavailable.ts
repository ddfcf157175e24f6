/** The error of a request when Redis does not respond. Uncounted attempts at guessing would be worse than a 503. */
import { AppError } from '../../common/errors/app-error';

export async function viaRedis<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw new AppError({
      status: 503,
      code: 'service_unavailable',
      message: 'The shared counters cannot be reached',
      headers: { 'Retry-After': '1' },
      database: { sqlstate: 'PL503' },
      cause,
    });
  }
}
