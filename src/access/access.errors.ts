/** Refusals of the guards. One message for all invalid credentials: it does not tell why. */
import { AppError } from '../common/errors/app-error';

/** RFC 6750, 3: a 401 names the scheme that is expected. */
const CHALLENGE = { 'WWW-Authenticate': 'Bearer' };

export const missingApiKey = (): AppError =>
  new AppError({
    status: 401,
    code: 'unauthorized',
    message: 'The apikey header is missing',
    headers: CHALLENGE,
    database: { sqlstate: 'PL401' },
  });

export const missingBearer = (): AppError =>
  new AppError({
    status: 401,
    code: 'unauthorized',
    message: 'The Authorization header with a bearer token is missing',
    headers: CHALLENGE,
    database: { sqlstate: 'PL401' },
  });

export const invalidCredentials = (cause?: unknown): AppError =>
  new AppError({
    status: 401,
    code: 'unauthorized',
    message: 'The credentials are not valid or no longer valid',
    headers: CHALLENGE,
    database: { sqlstate: 'PL401' },
    cause,
  });

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
