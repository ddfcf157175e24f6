/** Errors about accounts of any kind: users of projects, and staff of the installation. */
import { AppError } from '../common/errors/app-error';

export const refusal = (status: number, code: string, message: string, cause?: unknown): AppError =>
  new AppError(status, code, message, { cause });

export const invalidEmail = (): AppError => refusal(400, 'invalid_email', 'email must be a valid address');

interface PasswordFault {
  readonly kind: string;
  readonly message: string;
  readonly least?: number;
}

export const unacceptablePassword = ({ message, kind, least }: PasswordFault): AppError =>
  new AppError(400, 'weak_password', message, { details: { kind, least } });

/** The same error for an unknown address and a wrong password, and for a disabled account of staff. */
export const wrongCredentials = (): AppError =>
  refusal(401, 'invalid_credentials', 'The email or the password is wrong');

export const sessionNotFound = (): AppError => refusal(404, 'session_not_found', 'There is no such session');

export const flowOver = (): AppError =>
  refusal(
    401,
    'sign_in_over',
    'This sign-in began in another browser, was completed, or took too long; begin again',
  );

export const oidcUnreachable = (cause?: unknown): AppError =>
  new AppError(503, 'oidc_unreachable', 'The issuer of single sign-on does not answer', {
    headers: { 'Retry-After': '5' },
    cause,
  });

export const oidcFailed = (cause?: unknown): AppError =>
  refusal(401, 'oidc_failed', 'The answer of the issuer is not valid for this sign-in', cause);

export const samlFailed = (cause?: unknown): AppError =>
  refusal(401, 'saml_failed', 'The response of the identity provider is not valid for this sign-in', cause);

export const directoryFailed = (cause?: unknown): AppError =>
  refusal(503, 'directory_failed', 'The directory does not answer, or refuses the application', cause);

export const passkeyFailed = (cause?: unknown): AppError =>
  refusal(
    401,
    'passkey_failed',
    'The passkey is not known, or its answer is not valid for this request',
    cause,
  );
