/** A session, and its rows in auth.sessions, read and checked: the owner of the project may have written anything into them. */
import type { QueryResultRow } from 'pg';
import { AssuranceLevel, ONE_FACTOR, TWO_FACTORS } from '../../access/caller';
import { JsonObject } from '../../common/text/json';
import { RecordReader } from '../../database/rows/record-reader';
import { Account } from '../accounts/account';
import { toAccount } from '../accounts/account-record';
import { RequestOrigin } from '../../identity/request-origin';
import { toCustomClaims } from './custom-claims';

const TABLE = 'auth.sessions';
/** A refresh token encodes the number in 32 bits. */
const MAX_REFRESH_COUNT = 2 ** 32 - 1;
/** Characters of an address and of a user agent, which is cut before it is stored. */
const MAX_ORIGIN_TEXT = 1_000;

/** The sessions of a user that a sign-out ends. */
export const LOGOUT_SCOPES = ['local', 'others', 'global'] as const;
export type LogoutScope = (typeof LOGOUT_SCOPES)[number];

export interface NewSession {
  readonly id: string;
  readonly userId: string;
  /** The hash that the password was verified with: no session begins if it was changed in the meantime. */
  readonly passwordHash: string | null;
  /** Replaces a hash that was made with too little work; null keeps it. */
  readonly newPasswordHash: string | null;
  readonly expiresAt: Date;
  readonly origin: RequestOrigin;
}

/** The data of a session's tokens. */
export interface SessionToIssue {
  readonly account: Account;
  readonly sessionId: string;
  /** The number of rotations, which the valid refresh token carries. */
  readonly number: number;
  readonly aal: AssuranceLevel;
  readonly customClaims: JsonObject;
}

export interface RotatedSession extends SessionToIssue {
  /** True if the token was reused after the grace period: the statement has revoked the session. */
  readonly revoked: boolean;
}

/** An entry of the list of a user's live sessions. */
export interface SessionInfo {
  readonly id: string;
  readonly createdAt: Date;
  readonly refreshedAt: Date;
  readonly expiresAt: Date;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

/**
 * @param row with refresh_count, aal, revoked_at, claims and ACCOUNT_COLUMNS
 * @param sessionId from the credential: tokens are issued for this session, whatever id the row has
 * @throws AppError 500 for a value that the column cannot hold
 */
export function toRotated(row: QueryResultRow, sessionId: string): RotatedSession {
  const session = new RecordReader(TABLE, row);
  return {
    account: toAccount(row),
    sessionId,
    number: session.integer('refresh_count', 0, MAX_REFRESH_COUNT),
    aal: session.oneOf('aal', [ONE_FACTOR, TWO_FACTORS]),
    revoked: !session.isNull('revoked_at'),
    customClaims: toCustomClaims(row.claims),
  };
}

/** @throws AppError 500 for a value that the column cannot hold */
export function toSessionInfo(row: QueryResultRow): SessionInfo {
  const session = new RecordReader(TABLE, row);
  return {
    id: session.uuid('id'),
    createdAt: session.date('created_at'),
    refreshedAt: session.date('refreshed_at'),
    expiresAt: session.date('expires_at'),
    ip: session.textOrNull('ip', MAX_ORIGIN_TEXT),
    userAgent: session.textOrNull('user_agent', MAX_ORIGIN_TEXT),
  };
}
