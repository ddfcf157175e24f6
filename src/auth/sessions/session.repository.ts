/** Rows of auth.sessions. The check that rides in every request's own statement is auth.require_session(), in SQL. */
import { Injectable } from '@nestjs/common';
import type { QueryResultRow } from 'pg';
import { AssuranceLevel, ONE_FACTOR, TWO_FACTORS } from '../../access/caller';
import { JsonObject } from '../../common/text/json';
import { Statement } from '../../database/pools/pipelined-query';
import { RecordReader } from '../../database/rows/record-reader';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { Account } from '../accounts/account';
import { ACCOUNT_COLUMNS, toAccount } from '../accounts/account-record';
import { audited, AuditEntry } from '../audit/audit.repository';
import { callingClaims, claimsOf, toCustomClaims } from './custom-claims';
import { RequestOrigin } from '../audit/request-origin';
import { SHORT_TIMEOUT } from '../accounts/short-timeout';

const TABLE = 'auth.sessions';
/** What a refresh token has room for. */
const MAX_REFRESH_COUNT = 2 ** 32 - 1;
/** Characters of an address and of a user agent, which is cut before it is stored. */
const MAX_ORIGIN_TEXT = 1_000;
/** Seconds in which a spent refresh token still answers, with the same successor (DECISIONS.md 4). */
const REUSE_GRACE_SECONDS = 10;
/** Days that an ended session stays visible to administrators. */
const ENDED_SESSION_DAYS = 7;

export interface NewSession {
  readonly id: string;
  readonly userId: string;
  /** The hash that the password was compared with: a password changed meanwhile ends the attempt. */
  readonly passwordHash: string | null;
  /** Replaces it, where it was made with too little work. */
  readonly newPasswordHash: string | null;
  readonly now: Date;
  readonly expiresAt: Date;
  readonly origin: RequestOrigin;
}

export interface RotatedSession {
  readonly account: Account;
  readonly sessionId: string;
  /** Of the token that is valid now. */
  readonly number: number;
  readonly aal: AssuranceLevel;
  /** True when the token was spent too long ago: the session has been revoked. */
  readonly revoked: boolean;
  readonly customClaims: JsonObject;
}

export interface SessionRow {
  readonly id: string;
  readonly createdAt: Date;
  readonly refreshedAt: Date;
  readonly expiresAt: Date;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

/** Which of a user's sessions a sign-out ends. */
export const LOGOUT_SCOPES = ['local', 'others', 'global'] as const;
export type LogoutScope = (typeof LOGOUT_SCOPES)[number];

export interface SessionOwner {
  readonly userId: string;
  readonly sessionId: string;
  /** Of the access token that was sent: one from before the session rose to two factors has one. */
  readonly aal: AssuranceLevel;
}

/** True for a live session `s` of `u` at the time `now`. */
export const isLive = (now: string): string =>
  `s.revoked_at is null and s.expires_at > ${now} and (u.banned_until is null or u.banned_until <= ${now})`;

@Injectable()
export class SessionRepository {
  constructor(private readonly rls: RlsTransaction) {}

  /** Begins a session, unless the account was changed or banned meanwhile. Its row answers custom claims. */
  insertion(session: NewSession, audit: AuditEntry): Statement {
    const statement = {
      name: 'auth:insert-session',
      text: `with u as (
          update auth.users set last_sign_in_at = $4, encrypted_password = coalesce($3, encrypted_password)
          where id = $2 and encrypted_password is not distinct from $8
            and (banned_until is null or banned_until <= $4)
          returning id),
        s as (
          insert into auth.sessions (id, user_id, created_at, refreshed_at, expires_at, ip, user_agent)
          select $1, u.id, $4, $4, $5, $6, $7 from u),
        ended as (
          delete from auth.sessions o using u where o.user_id = u.id
            and least(o.revoked_at, o.expires_at) < $4::timestamptz - interval '${ENDED_SESSION_DAYS} days'),
        /* audit from u */ select ${claimsOf('u.id')} as claims from u`,
      values: [
        session.id,
        session.userId,
        session.newPasswordHash,
        session.now,
        session.expiresAt,
        session.origin.ip,
        session.origin.userAgent,
        session.passwordHash,
      ],
    };
    return audited(statement, audit);
  }

  /** @returns the project's own claims; null when the account was changed or banned meanwhile */
  async begin(project: Project, session: NewSession, audit: AuditEntry): Promise<JsonObject | null> {
    const statement = this.insertion(session, audit);
    const rows = await this.withClaims(project, 'a sign-in has no caller yet', statement);
    return rows[0] ? toCustomClaims(rows[0].claims) : null;
  }

  /**
   * Rotates a refresh token, in one statement: of parallel uses of one token the first rotates, and the others wait
   * for the row, find it rotated and get the same successor.
   * @returns null when the session is over or unknown
   */
  async rotate(
    project: Project,
    token: { sessionId: string; number: number },
    { now, expiresAt, origin }: { now: Date; expiresAt: Date; origin: RequestOrigin },
  ): Promise<RotatedSession | null> {
    const rows = await this.withClaims(project, 'a refresh token is the only credential', {
      name: 'auth:rotate-session',
      text: `with rotated as (
          update auth.sessions s set
            refresh_count = case when s.refresh_count = $2 then $2 + 1 else s.refresh_count end,
            refreshed_at = case when s.refresh_count = $2 then $3 else s.refreshed_at end,
            expires_at = case when s.refresh_count = $2 then $4 else s.expires_at end,
            ip = case when s.refresh_count = $2 then $5 else s.ip end,
            user_agent = case when s.refresh_count = $2 then $6 else s.user_agent end,
            revoked_at = case when s.refresh_count = $2 or (s.refresh_count = $2 + 1
              and s.refreshed_at > $3::timestamptz - interval '${REUSE_GRACE_SECONDS} seconds') then null else $3::timestamptz end
          from auth.users u
          where s.id = $1 and u.id = s.user_id and ${isLive('$3')}
          returning s.refresh_count, s.aal, s.revoked_at, ${ACCOUNT_COLUMNS})
        select r.*, ${claimsOf('r.id')} as claims from rotated r`,
      values: [token.sessionId, token.number, now, expiresAt, origin.ip, origin.userAgent],
    });
    return rows[0] ? toRotated(rows[0], token.sessionId) : null;
  }

  /** Ends sessions of a signed-in user. @returns false when the user's own session is over already */
  async end(
    project: Project,
    owner: SessionOwner,
    scope: LogoutScope,
    now: Date,
    audit: AuditEntry,
  ): Promise<boolean> {
    const statement = {
      name: 'auth:end-sessions',
      text: `with me as (
          select u.id, s.id as session_id from auth.sessions s join auth.users u on u.id = s.user_id
          where s.id = $1 and s.user_id = $2 and ${isLive('$3')}),
        ended as (
          update auth.sessions o set revoked_at = $3 from me
          where o.user_id = me.id and o.revoked_at is null and case $4
            when 'local' then o.id = me.session_id when 'others' then o.id <> me.session_id else true end),
        /* audit from me */ select id from me`,
      values: [owner.sessionId, owner.userId, now, scope],
    };
    const { rows } = await this.rls.systemQuery(
      project.database,
      'a user ends their own sessions',
      audited(statement, audit),
    );
    return rows.length === 1;
  }

  /** Live sessions, the newest first; null when the user's own session is over. */
  async list(project: Project, owner: SessionOwner, now: Date): Promise<SessionRow[] | null> {
    const { rows } = await this.rls.systemQuery(project.database, 'a user lists their own sessions', {
      name: 'auth:list-sessions',
      text: `select s.id, s.created_at, s.refreshed_at, s.expires_at, s.ip, s.user_agent
        from auth.sessions s join auth.users u on u.id = s.user_id
        where s.user_id = $1 and ${isLive('$2')} order by s.created_at desc, s.id`,
      values: [owner.userId, now],
    });
    const sessions = rows.map(toSession);
    return sessions.some(({ id }) => id === owner.sessionId) ? sessions : null;
  }

  /** Ends one session of a signed-in user. @returns null when the user's own is over, false when there is no such session */
  async endOne(
    project: Project,
    owner: SessionOwner,
    id: string | null,
    now: Date,
    audit: AuditEntry,
  ): Promise<boolean | null> {
    const statement = {
      name: 'auth:end-session',
      text: `with me as (
          select u.id from auth.sessions s join auth.users u on u.id = s.user_id
          where s.id = $1 and s.user_id = $2 and ${isLive('$3')}),
        ended as (
          update auth.sessions o set revoked_at = $3 from me
          where o.user_id = me.id and o.id = $4 and o.revoked_at is null and o.expires_at > $3
          returning o.user_id as id),
        /* audit from ended */ select exists (select from ended) as ended from me`,
      values: [owner.sessionId, owner.userId, now, id],
    };
    const { rows } = await this.rls.systemQuery(
      project.database,
      'a user ends one of their own sessions',
      audited(statement, audit),
    );
    return rows[0] ? (rows[0].ended as boolean) : null;
  }

  /** Runs a statement that calls the project's own function. */
  private async withClaims(
    project: Project,
    reason: string,
    statement: Statement,
  ): Promise<QueryResultRow[]> {
    const [, result] = await callingClaims(
      this.rls.systemBatch(project.database, reason, [SHORT_TIMEOUT, statement]),
    );
    return result?.rows ?? [];
  }
}

/**
 * @param row with refresh_count, aal, revoked_at, claims and ACCOUNT_COLUMNS
 * @param sessionId that the credential names: tokens are for this session, whatever the row says
 * @throws AppError 500 for a value that the project's owner put in its place
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

function toSession(row: QueryResultRow): SessionRow {
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
