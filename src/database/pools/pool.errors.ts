/** Refusals of requests that get no database connection. */
import { AppError } from '../../common/errors/app-error';

/** 503 with Retry-After: no connection was free in time. */
export function poolExhausted(): AppError {
  return new AppError({
    status: 503,
    code: '53300',
    message: 'The service is busy: no database connection became free in time',
    headers: { 'Retry-After': '1' },
    database: { sqlstate: '53300' },
  });
}

/** 503 with Retry-After: the server refused the login role, which is being repaired. */
export function loginRefused(cause: Error): AppError {
  return new AppError({
    status: 503,
    code: '53300',
    message: 'The service is busy: the database refused a connection',
    headers: { 'Retry-After': '1' },
    database: { sqlstate: '53300' },
    cause,
  });
}
