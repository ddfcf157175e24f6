/** Rows of auth.users, read and checked: the project's owner may have put anything into them. */
import type { QueryResultRow } from 'pg';
import { RecordReader } from '../../database/rows/record-reader';
import { Account } from './account';
import { MAX_EMAIL } from './email-address';
import { MAX_DATA_TEXT } from './user-data';

/** Columns of an Account; `u` is auth.users. */
export const ACCOUNT_COLUMNS = `u.id, u.email, u.name, u.data::text as data, u.email_verified_at, u.banned_until, u.invited_at,
  u.last_sign_in_at, u.created_at, u.updated_at`;

const TABLE = 'auth.users';
/** UTF-16 code units; the table's own constraint counts 320 characters, of which each may have two. */
const MAX_NAME = 640;
/** Characters of a password's hash, of whatever system it comes from. */
const MAX_HASH = 1_000;

export interface Credentials {
  readonly account: Account;
  /** Null for an account without a password: one that was invited, say. */
  readonly passwordHash: string | null;
}

/** @param row with ACCOUNT_COLUMNS @throws AppError 500 for a value that the column cannot mean */
export function toAccount(row: QueryResultRow): Account {
  const user = new RecordReader(TABLE, row);
  return {
    id: user.uuid('id'),
    email: emailOf(user),
    name: user.text('name', MAX_NAME),
    data: user.jsonObject('data', MAX_DATA_TEXT),
    emailVerifiedAt: user.dateOrNull('email_verified_at'),
    bannedUntil: user.dateOrNull('banned_until'),
    invitedAt: user.dateOrNull('invited_at'),
    lastSignInAt: user.dateOrNull('last_sign_in_at'),
    createdAt: user.date('created_at'),
    updatedAt: user.date('updated_at'),
  };
}

/** @param row with ACCOUNT_COLUMNS and encrypted_password @throws AppError 500, as toAccount() */
export function toCredentials(row: QueryResultRow): Credentials {
  const passwordHash = new RecordReader(TABLE, row).textOrNull('encrypted_password', MAX_HASH);
  return { account: toAccount(row), passwordHash };
}

/** Imported accounts may have a plain name in place of an address, but nothing that a header or a token would trip over. */
function emailOf(user: RecordReader): string {
  const email = user.text('email', 2 * MAX_EMAIL);
  if (email === '' || /\p{Cc}/u.test(email)) throw user.unusable('email', 'no address');
  return email;
}
