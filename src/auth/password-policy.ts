/** Which passwords are accepted (DECISIONS.md 4). */
import { COMMON_PASSWORDS } from './common-passwords';

/** Bytes: bcrypt silently ignores what comes after them. */
const MAX_PASSWORD_BYTES = 72;
/** Characters (SPEC.md 8); a project may ask for more, never for less. */
const MIN_PASSWORD_LENGTH = 6;

/** The part of a project's settings that is about passwords. */
export interface PasswordRules {
  /** Characters. */
  readonly password_min_length: number;
  readonly refuse_common_passwords: boolean;
}

export interface PasswordFault {
  readonly kind: 'too_short' | 'too_long' | 'too_common' | 'unusable';
  /** For a client, in English. */
  readonly message: string;
}

/** @returns what is wrong with a new password, or null */
export function passwordFault(password: string, rules: PasswordRules): PasswordFault | null {
  const least = minLength(rules);
  // Code points: an emoji is one character, whatever UTF-16 makes of it.
  if ([...password].length < least) {
    return { kind: 'too_short', message: `The password must have at least ${least} characters` };
  }
  if (rules.refuse_common_passwords && COMMON_PASSWORDS.has(password.toLowerCase())) {
    return { kind: 'too_common', message: 'The password is one of the most common ones' };
  }
  return unusableFault(password);
}

/** What makes a text useless as a password, new or not: bcrypt would cut it, or two texts would count as one. */
export function unusableFault(password: string): PasswordFault | null {
  if (Buffer.byteLength(password, 'utf8') > MAX_PASSWORD_BYTES) {
    return { kind: 'too_long', message: `The password must not be longer than ${MAX_PASSWORD_BYTES} bytes` };
  }
  if (password.includes('\0')) {
    return { kind: 'unusable', message: 'The password must not hold a NUL character' };
  }
  // An unpaired surrogate has no UTF-8 form: all of them would become the same replacement character.
  return /\p{Surrogate}/u.test(password)
    ? { kind: 'unusable', message: 'The password is not valid Unicode' }
    : null;
}

/** Characters. */
export function minLength({ password_min_length: length }: PasswordRules): number {
  return Math.max(length, MIN_PASSWORD_LENGTH);
}
