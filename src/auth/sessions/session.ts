/** A session, and its rows in auth.sessions, read and checked: the owner of the project may have written anything into them. */
import type { QueryResultRow } from 'pg';
import { APPLICATION_METHOD, AssuranceLevel, ONE_FACTOR, TWO_FACTORS } from '../../access/caller';
import { isJsonObject, JsonObject, parseJson } from '../../common/text/json';
import { RecordReader } from '../../database/rows/record-reader';
import { Account } from '../accounts/account';
import { toAccount } from '../accounts/account-record';
import { RequestOrigin } from '../../identity/request-origin';
import { Project } from '../../projects/project';
import { toCustomClaims } from './custom-claims';

const TABLE = 'auth.sessions';
/** A refresh token encodes the number in 32 bits. */
const MAX_REFRESH_COUNT = 2 ** 32 - 1;
/** Characters of an address and of a user agent, which is cut before it is stored. */
const MAX_ORIGIN_TEXT = 1_000;
export const MAX_AMR = 2_000;

/** The sessions of a user that a sign-out ends. */
export const LOGOUT_SCOPES = ['local', 'others', 'global'] as const;
export type LogoutScope = (typeof LOGOUT_SCOPES)[number];

/** How a session was signed in (`amr` of its tokens, RFC 8176, with the names that GoTrue uses). */
export const SIGN_IN_METHODS = [
  'password',
  'otp',
  'magiclink',
  'recovery',
  'invite',
  'email/signup',
  'email_change',
  'anonymous',
  'oauth',
  'sso/saml',
  'passkey',
  'ldap',
  'totp',
  'mfa/webauthn',
  'mfa/phone',
  APPLICATION_METHOD,
] as const;
export type SignInMethod = (typeof SIGN_IN_METHODS)[number];

export interface MethodReference {
  readonly method: SignInMethod;
  /** Unix seconds. */
  readonly timestamp: number;
}

/** The session of an application: what the user approved, and how they had signed in. */
export interface SessionGrant {
  readonly sessionId: string;
  readonly authorizationId: string;
  readonly clientId: string;
  readonly scope: string;
  readonly aal: AssuranceLevel;
  readonly amr: readonly MethodReference[];
}

export interface NewSession {
  readonly id: string;
  readonly userId: string;
  /** The hash that the password was verified with: no session begins if it was changed in the meantime. */
  readonly passwordHash: string | null;
  /** JSON of the groups that a directory gave the account, as its tokens name them: no session begins if it lost one in the meantime. */
  readonly groups: string | null;
  /** Replaces a hash whose work factor was too low; null keeps the hash. */
  readonly newPasswordHash: string | null;
  readonly expiresAt: Date;
  readonly origin: RequestOrigin;
  readonly method: SignInMethod;
  readonly grant?: SessionGrant;
}

/** The data of a session's tokens. */
export interface SessionToIssue {
  readonly account: Account;
  readonly sessionId: string;
  /** The number of rotations, which the valid refresh token carries. */
  readonly number: number;
  readonly aal: AssuranceLevel;
  readonly amr: readonly MethodReference[];
  readonly customClaims: JsonObject;
  /** Id of the application that has the session. */
  readonly clientId?: string | null;
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
  readonly aal: AssuranceLevel;
}

/**
 * @param row with refresh_count, aal, amr, oauth_client_id, revoked_at, claims and ACCOUNT_COLUMNS
 * @param sessionId from the credential: tokens are issued for this session, not for the id in the row
 * @param given claims of a hook over HTTP
 * @throws AppError 500 for a value that the column cannot hold
 */
export function toRotated(
  row: QueryResultRow,
  sessionId: string,
  project: Project,
  given: JsonObject | null,
): RotatedSession {
  const session = new RecordReader(TABLE, row);
  return {
    account: toAccount(row),
    sessionId,
    number: session.integer('refresh_count', 0, MAX_REFRESH_COUNT),
    aal: session.oneOf('aal', [ONE_FACTOR, TWO_FACTORS]),
    amr: toMethods(session.text('amr', MAX_AMR)),
    clientId: session.uuidOrNull('oauth_client_id'),
    revoked: !session.isNull('revoked_at'),
    customClaims: given ?? toCustomClaims(row.claims, project),
  };
}

/** The methods of a session; empty for a value that is not a list of methods. */
export function toMethods(text: string): MethodReference[] {
  const value = parseJson(text);
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown) => {
    if (!isJsonObject(entry)) return [];
    const { method, timestamp } = entry;
    const isMethod = SIGN_IN_METHODS.some((one) => one === method);
    return isMethod && Number.isSafeInteger(timestamp)
      ? [{ method: method as SignInMethod, timestamp: Number(timestamp) }]
      : [];
  });
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
    aal: session.oneOf('aal', [ONE_FACTOR, TWO_FACTORS]),
  };
}
