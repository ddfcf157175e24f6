/** What a request gets when Redis does not answer: to guess on without counting would be worse than to wait. */
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
