/** Refusals of the guards. One message for all invalid credentials: it does not tell why. */
import { AppError } from '../common/errors/app-error';

/** RFC 6750, 3: a 401 names the scheme that is expected. */
const CHALLENGE = { 'WWW-Authenticate': 'Bearer' };

const unauthorized = (message: string, cause?: unknown): AppError =>
  new AppError({
    status: 401,
    code: 'unauthorized',
    message,
    headers: CHALLENGE,
    database: { sqlstate: 'PL401' },
    cause,
  });

export const missingApiKey = (): AppError => unauthorized('The apikey header is missing');

export const missingBearer = (): AppError =>
  unauthorized('The Authorization header with a bearer token is missing');

export const invalidCredentials = (cause?: unknown): AppError =>
  unauthorized('The credentials are not valid or no longer valid', cause);

export const serviceRoleRequired = (): AppError =>
  new AppError({
    status: 403,
    code: 'forbidden',
    message: 'This needs the service-role key',
    database: { sqlstate: 'PL403' },
  });

export const rateLimited = (retryAfterSeconds: number): AppError =>
  new AppError({
    status: 429,
    code: 'rate_limited',
    message: 'Too many requests; try again later',
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterSeconds))) },
    database: { sqlstate: 'PL429' },
  });
