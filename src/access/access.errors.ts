/** Errors of the guards. All invalid credentials get the same message, which does not reveal the reason. */
import { AppError } from '../common/errors/app-error';

/** RFC 6750, 3: a 401 names the scheme that is expected. */
const CHALLENGE = { 'WWW-Authenticate': 'Bearer' };
const NOT_VALID = 'The credentials are not valid or no longer valid';

/** `untimely`: signed by the project, but expired or not yet valid. Revealed only for tokens with a valid signature. */
export type CredentialFault = 'missing' | 'invalid' | 'untimely';

/** 401. Table REST distinguishes the faults by PostgREST's codes. */
export class CredentialsRefused extends AppError {
  constructor(
    readonly fault: CredentialFault,
    message: string,
    cause?: unknown,
  ) {
    super(401, 'unauthorized', message, { headers: CHALLENGE, database: { sqlstate: 'PL401' }, cause });
  }
}

export const missingApiKey = (): AppError =>
  new CredentialsRefused('missing', 'The apikey header is missing');

export const missingBearer = (): AppError =>
  new CredentialsRefused('missing', 'The Authorization header with a bearer token is missing');

export const invalidCredentials = (cause?: unknown): AppError =>
  new CredentialsRefused('invalid', NOT_VALID, cause);

export const untimelyCredentials = (): AppError => new CredentialsRefused('untimely', NOT_VALID);

export const serviceRoleRequired = (): AppError =>
  new AppError(403, 'forbidden', 'This needs the service-role key', { database: { sqlstate: 'PL403' } });

/** For tokens with the claim `read_only`, issued to staff members who may only read a project (docs/reference/staff.md). */
export const readOnlyCredentials = (): AppError =>
  new AppError(403, 'forbidden', 'These credentials may only read', { database: { sqlstate: 'PL403' } });

/** For tokens of "view as" with the claim `unconfirmed`: the staff session had no recent proof of identity. */
export const unconfirmedView = (): AppError =>
  new AppError(
    403,
    'step_up_required',
    'Changes of accounts and providers need a token that was made after POST /admin/v1/session/confirm',
    { database: { sqlstate: 'PL403' } },
  );

/** For actions that a user may take only with a session of their own. */
export const ownSessionRequired = (): AppError =>
  new AppError(
    403,
    'own_session_required',
    'An application may not change accounts, nor see their sessions',
    {
      database: { sqlstate: 'PL403' },
    },
  );

export const rateLimited = (retryAfterSeconds: number): AppError =>
  new AppError(429, 'rate_limited', 'Too many requests; try again later', {
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterSeconds))) },
    database: { sqlstate: 'PL429' },
  });
