/** The rules for passwords. */
import type { AppError } from '../../common/errors/app-error';
import { unacceptablePassword } from '../identity.errors';
import { COMMON_PASSWORDS } from './common-passwords';

/** In bytes: bcrypt silently ignores the rest. */
const MAX_PASSWORD_BYTES = 72;
/** Minimum number of characters. A project may require more, but not fewer. */
const MIN_PASSWORD_LENGTH = 6;

/** The settings of a project that concern passwords. */
export interface PasswordRules {
  /** Characters. */
  readonly password_min_length: number;
  readonly refuse_common_passwords: boolean;
  readonly refuse_breached_passwords?: boolean;
}

interface PasswordFault {
  readonly kind: 'too_short' | 'too_long' | 'too_common' | 'unusable';
  /** In English, for the client. */
  readonly message: string;
  /** Required number of characters, if the password is too short. */
  readonly least?: number;
}

/** @throws AppError 400 for an unacceptable new password */
export function assertNewPassword(password: string, rules: PasswordRules): void {
  const fault = passwordFault(password, rules);
  if (fault) throw unacceptablePassword(fault);
}

/** @throws AppError 400 for a text that cannot be a password */
export function assertUsablePassword(password: string): void {
  const fault = unusableFault(password);
  if (fault) throw unacceptablePassword(fault);
}

/** @returns the fault of a new password, or null */
export function passwordFault(password: string, rules: PasswordRules): PasswordFault | null {
  const least = minLength(rules);
  // Code points, so that an emoji counts as one character.
  if ([...password].length < least) {
    return { kind: 'too_short', least, message: `The password must have at least ${least} characters` };
  }
  if (rules.refuse_common_passwords && COMMON_PASSWORDS.has(password.toLowerCase())) {
    return { kind: 'too_common', message: 'The password is one of the most common ones' };
  }
  return unusableFault(password);
}

/** Finds the fault of a text that cannot be a password: bcrypt would truncate it, or two different texts would be equal. */
export function unusableFault(password: string): PasswordFault | null {
  if (Buffer.byteLength(password, 'utf8') > MAX_PASSWORD_BYTES) {
    return { kind: 'too_long', message: `The password must not be longer than ${MAX_PASSWORD_BYTES} bytes` };
  }
  if (password.includes('\0')) {
    return { kind: 'unusable', message: 'The password must not hold a NUL character' };
  }
  // An unpaired surrogate cannot be encoded in UTF-8: all of them would become the same replacement character.
  return /\p{Surrogate}/u.test(password)
    ? { kind: 'unusable', message: 'The password is not valid Unicode' }
    : null;
}

/** Characters. */
export function minLength({ password_min_length: length }: PasswordRules): number {
  return Math.max(length, MIN_PASSWORD_LENGTH);
}

/** The error for a new password that is too short for every project. */
export function tooShortPassword(): AppError {
  const fault = passwordFault('12345', { password_min_length: 6, refuse_common_passwords: false });
  if (!fault) throw new Error('a password of five characters is acceptable');
  return unacceptablePassword(fault);
}
