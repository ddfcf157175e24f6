/** Errors about accounts of any kind: users of projects, and staff of the installation. */
import { AppError } from '../common/errors/app-error';

export const invalidEmail = (): AppError =>
  new AppError({ status: 400, code: 'invalid_email', message: 'email must be a valid address' });

interface PasswordFault {
  readonly kind: string;
  readonly message: string;
  readonly least?: number;
}

export const unacceptablePassword = ({ message, kind, least }: PasswordFault): AppError =>
  new AppError({ status: 400, code: 'weak_password', message, details: { kind, least } });
