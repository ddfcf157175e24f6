/** Rows of auth.users, read and checked: the owner of the project may have written anything into them. */
import { DatabaseError, type QueryResultRow } from 'pg';
import { RecordReader } from '../../database/rows/record-reader';
import { Account, MAX_DATA_TEXT } from './account';
import { MAX_EMAIL } from '../../identity/email-address';
import { UNIQUE_VIOLATION } from '../../database/sql/sqlstate';
import { emailTaken } from '../auth.errors';

/** The columns of an Account; `u` is auth.users. */
export const ACCOUNT_COLUMNS = `u.id, u.email, u.name, u.data::text as data, u.app_data::text as app_data,
  u.is_anonymous, u.email_verified_at, u.phone, u.phone_verified_at, u.banned_until, u.invited_at, u.last_sign_in_at, u.created_at, u.updated_at`;

const TABLE = 'auth.users';
/** UTF-16 code units: the table allows 320 characters, and a character has up to two. */
const MAX_NAME = 640;
const MAX_PHONE = 20;
/** Characters of a password hash, which may be imported. */
const MAX_HASH = 1_000;

export interface Credentials {
  readonly account: Account;
  /** Null for an account without a password, such as an invited account. */
  readonly passwordHash: string | null;
}

/** @param row with ACCOUNT_COLUMNS @throws AppError 500 for a value that the column cannot hold */
export function toAccount(row: QueryResultRow): Account {
  const user = new RecordReader(TABLE, row);
  return {
    id: user.uuid('id'),
    email: emailOf(user),
    name: user.text('name', MAX_NAME),
    data: user.jsonObject('data', MAX_DATA_TEXT),
    appData: user.jsonObject('app_data', MAX_DATA_TEXT),
    isAnonymous: user.boolean('is_anonymous'),
    emailVerifiedAt: user.dateOrNull('email_verified_at'),
    phone: user.textOrNull('phone', MAX_PHONE),
    phoneVerifiedAt: user.dateOrNull('phone_verified_at'),
    bannedUntil: user.dateOrNull('banned_until'),
    invitedAt: user.dateOrNull('invited_at'),
    lastSignInAt: user.dateOrNull('last_sign_in_at'),
    createdAt: user.date('created_at'),
    updatedAt: user.date('updated_at'),
  };
}

/** The account of a statement that returns at most one row. @throws AppError 500, as toAccount() */
export function toAccountOrNull(result: { readonly rows: QueryResultRow[] } | undefined): Account | null {
  const row = result?.rows[0];
  return row ? toAccount(row) : null;
}

/** @param row with ACCOUNT_COLUMNS and encrypted_password @throws AppError 500, as toAccount() */
export function toCredentials(row: QueryResultRow): Credentials {
  const passwordHash = new RecordReader(TABLE, row).textOrNull('encrypted_password', MAX_HASH);
  return { account: toAccount(row), passwordHash };
}

/** The address of an imported account may be a user name. It goes into headers and tokens, so it has no control characters. */
function emailOf(user: RecordReader): string {
  const email = user.text('email', 2 * MAX_EMAIL);
  const mayBeEmpty = user.boolean('is_anonymous') || !user.isNull('phone');
  if ((email === '' && !mayBeEmpty) || /\p{Cc}/u.test(email)) throw user.unusable('email', 'an address');
  return email;
}

export function isTakenAddress(error: unknown): boolean {
  return (
    error instanceof DatabaseError &&
    error.code === UNIQUE_VIOLATION &&
    error.constraint === 'users_email_key'
  );
}

/** Runs a change that sets an address. @throws AppError 400 if another account has it */
export async function refusingTakenAddress<T>(change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (error) {
    throw isTakenAddress(error) ? emailTaken(error) : error;
  }
}
