/** An account, and its representations for its owner and for administrators. */
import { JsonObject, JsonValue } from '../../common/text/json';
import { EmailAddress } from '../../identity/email-address';
import { invalidParameters } from '../../common/errors/app-error';
import { storageFault } from '../../common/text/storable';
import type { Project } from '../../projects/project';
import { emailNotVerified, userBanned, userDataTooLarge } from '../auth.errors';

export interface Account {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  /** JSON that the application keeps about the user. */
  readonly data: JsonObject;
  /** JSON about the user that only the service-role key changes. */
  readonly appData: JsonObject;
  /** An anonymous user has no address: `email` is empty. */
  readonly isAnonymous: boolean;
  readonly emailVerifiedAt: Date | null;
  /** E.164 without the plus sign; its owner has proved it. An account with only a phone has an empty `email`. */
  readonly phone: string | null;
  readonly phoneVerifiedAt: Date | null;
  readonly bannedUntil: Date | null;
  readonly invitedAt: Date | null;
  readonly lastSignInAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Absent members are empty. An account without an address and a phone is that of an anonymous user. */
export interface AccountToInsert {
  readonly id: string;
  readonly email: EmailAddress | null;
  readonly phone?: string;
  readonly name: string;
  readonly passwordHash: string | null;
  readonly data: JsonObject;
  readonly appData?: JsonObject;
  readonly emailVerifiedAt?: Date | null;
  readonly bannedUntil?: Date | null;
  readonly invitedAt?: Date | null;
  readonly now: Date;
}

export interface NewAccount extends AccountToInsert {
  readonly email: EmailAddress;
}

/** `user` of responses; `data` is left out if it is empty. */
export interface UserView {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly data?: JsonObject;
}

export function toUserView({ id, email, name, data }: Account): UserView {
  return Object.keys(data).length > 0 ? { id, email, name, data } : { id, email, name };
}

/** @param now milliseconds since the epoch */
export function isBanned({ bannedUntil }: Account, now: number): boolean {
  return bannedUntil !== null && bannedUntil.getTime() > now;
}

/**
 * Is called after the proof of the user, so that the state of the account is revealed only to its owner. The owner of an account
 * with only a phone has proved it. @param now milliseconds since the epoch
 * @throws AppError 403 for a banned account, or one without the verified address that the project requires
 */
export function assertMaySignIn({ settings }: Project, account: Account, now: number): void {
  if (isBanned(account, now)) throw userBanned();
  const hasOnlyPhone = account.email === '' && account.phone !== null;
  if (settings.email_verification_required && account.emailVerifiedAt === null && !hasOnlyPhone)
    throw emailNotVerified();
}

/** Bytes of `data` in a request. */
const MAX_DATA = 1024 * 1024;
/** Characters of `data` as PostgreSQL prints it, with its white space. */
export const MAX_DATA_TEXT = 2 * MAX_DATA;
/** PostgreSQL prints a number with an exponent (1e308) as up to this many digits. */
const MAX_DIGITS = 330;

/** @throws AppError 400 for data that would be too long to read back */
export function assertUserData(data: JsonObject | undefined): void {
  if (data === undefined) return;
  if (Buffer.byteLength(JSON.stringify(data)) + MAX_DIGITS * countExponents(data) > MAX_DATA) {
    throw userDataTooLarge(MAX_DATA);
  }
}

/** Bytes: a token has room for these and the largest custom claims. */
const MAX_APP_DATA = 1_024;

/** Limits app_data, which every access token contains. @throws AppError 400 for data that makes tokens too long */
export function assertAppData(data: JsonObject | undefined): void {
  if (data === undefined) return;
  const fault = storageFault('app_metadata', data);
  if (fault !== null) throw invalidParameters(fault);
  if (Buffer.byteLength(JSON.stringify(data)) > MAX_APP_DATA)
    throw invalidParameters(`app_metadata must not be longer than ${MAX_APP_DATA} bytes`);
}

/** Goes level by level: the depth is not limited here, and recursion could overflow the stack. */
function countExponents(data: JsonObject): number {
  let count = 0;
  let level: JsonValue[] = [data];
  while (level.length > 0) {
    count += level.filter((value) => typeof value === 'number' && String(value).includes('e')).length;
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    );
  }
  return count;
}

/** Members of a change replace those of the same name, and null removes one. */
export function mergedJson(old: JsonObject, change: JsonObject | null | undefined): JsonObject | undefined {
  if (!change) return undefined;
  const removed = new Set(Object.keys(change).filter((name) => change[name] === null));
  const whole = [...Object.entries(old), ...Object.entries(change)];
  return Object.fromEntries(whole.filter(([name]) => !removed.has(name)));
}
