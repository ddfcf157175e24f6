/** Rows of auth.oauth_authorizations and auth.oauth_consents: what applications asked users for, and what users granted. */
import { Injectable } from '@nestjs/common';
import type { QueryResultRow } from 'pg';
import { type AssuranceLevel, ONE_FACTOR, TWO_FACTORS } from '../../access/caller';
import { RecordReader } from '../../database/rows/record-reader';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { MAX_EMAIL } from '../../identity/email-address';
import type { Project } from '../../projects/project';
import { isLive, type SessionOwner } from '../accounts/account-statements';
import { type AuditEntry, withAudit } from '../audit/audit-entry';
import { MAX_AMR, type MethodReference, toMethods } from '../sessions/session';
import { CLIENT_COLUMNS, MAX_SCOPE, MAX_URI, type OAuthClient, toClient } from './oauth-client';

const AUTHORIZATIONS = 'auth.oauth_authorizations';
const REASON = 'auth.oauth_authorizations is closed to the roles of callers';
/** Requests that a user may have open. */
const MAX_OPEN = 100;
const MAX_NONCE = 1_000;

/** What a user approves. */
export interface Approval {
  readonly id: string;
  readonly clientId: string;
  readonly codeHash: Buffer;
  readonly redirectUri: string;
  readonly scope: string;
  readonly nonce: string | null;
  readonly challenge: string;
  readonly expiresAt: Date;
}

/** A code that was exchanged, and the session of the user who approved. */
export interface SpentCode {
  readonly id: string;
  readonly userId: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scope: string;
  readonly nonce: string | null;
  readonly challenge: string;
  /** When the user signed in, and how. */
  readonly signedInAt: Date;
  readonly aal: AssuranceLevel;
  readonly amr: readonly MethodReference[];
}

export interface Grant {
  readonly client: OAuthClient;
  readonly scope: string;
  readonly grantedAt: Date;
}

@Injectable()
export class OAuthGrantRepository {
  constructor(private readonly rls: RlsTransaction) {}

  /**
   * Notes that a user sees a request: from now on nobody else can answer it.
   * @returns the address of the user, and the scope that they granted the client before; null if the session is over; false if the
   *   request is another user's, or was answered
   */
  async open(
    project: Project,
    { userId, sessionId }: SessionOwner,
    { id, clientId, expiresAt }: Pick<Approval, 'id' | 'clientId' | 'expiresAt'>,
    now: Date,
  ): Promise<{ email: string; granted: string | null } | false | null> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:open-oauth-authorization',
      text: `with old as (delete from auth.oauth_authorizations where user_id = $2 and expires_at < $5),
          live as (select u.id, u.email from auth.sessions s join auth.users u on u.id = s.user_id
            where s.id = $3 and s.user_id = $2 and ${isLive('$5')}),
          mine as (insert into auth.oauth_authorizations as a (id, user_id, client_id, session_id, expires_at)
            select $1, live.id, $4, $3, $6 from live
            where (select count(*) from auth.oauth_authorizations o where o.user_id = $2 and o.expires_at >= $5) < ${MAX_OPEN}
            on conflict (id) do update set session_id = excluded.session_id
              where a.user_id = excluded.user_id and a.code_hash is null and a.spent_at is null
            returning a.id)
        select live.email, exists (select from mine) as is_mine,
          (select g.scope from auth.oauth_consents g where g.user_id = $2 and g.client_id = $4) as granted from live`,
      values: [id, userId, sessionId, clientId, now, expiresAt],
    });
    if (!rows[0]) return null;
    const record = new RecordReader(AUTHORIZATIONS, rows[0]);
    return (
      record.boolean('is_mine') && {
        email: record.text('email', 2 * MAX_EMAIL),
        granted: record.textOrNull('granted', MAX_SCOPE),
      }
    );
  }

  /** Makes the code valid, and stores the grant. @returns false if the request is not open for the user, or the session is over */
  async approve(
    project: Project,
    { userId, sessionId }: SessionOwner,
    approval: Approval,
    audit: AuditEntry,
  ): Promise<boolean> {
    const { id, clientId, codeHash, redirectUri, scope, nonce, challenge, expiresAt } = approval;
    const change = {
      name: 'auth:approve-oauth-authorization',
      steps: {
        a: `update auth.oauth_authorizations a set session_id = $3, code_hash = $4, redirect_uri = $5, scope = $6, nonce = $7,
            code_challenge = $8, expires_at = $9
          from auth.sessions s join auth.users u on u.id = s.user_id
          where a.id = $1 and a.user_id = $2 and s.id = $3 and s.user_id = $2 and ${isLive('$10')}
            and a.client_id = $11 and a.code_hash is null and a.spent_at is null and a.expires_at > $10
          returning a.user_id as id`,
        g: `insert into auth.oauth_consents as g (user_id, client_id, scope, granted_at) select a.id, $11, $6, $10 from a
          on conflict (user_id, client_id) do update set scope = excluded.scope, granted_at = excluded.granted_at`,
      },
      audited: 'a',
      query: 'select from a',
      values: [
        id,
        userId,
        sessionId,
        codeHash,
        redirectUri,
        scope,
        nonce,
        challenge,
        expiresAt,
        audit.now,
        clientId,
      ],
    } as const;
    const { rows } = await this.rls.systemQuery(project.database, REASON, withAudit(change, audit));
    return rows.length === 1;
  }

  /** @returns false if the request is not open for the user, or the session is over */
  async deny(project: Project, { userId, sessionId }: SessionOwner, id: string, now: Date): Promise<boolean> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:deny-oauth-authorization',
      text: `update auth.oauth_authorizations a set spent_at = $4 from auth.sessions s join auth.users u on u.id = s.user_id
        where a.id = $1 and a.user_id = $2 and s.id = $3 and s.user_id = $2 and ${isLive('$4')}
          and a.code_hash is null and a.spent_at is null and a.expires_at > $4 returning 1`,
      values: [id, userId, sessionId, now],
    });
    return rows.length === 1;
  }

  /** Only one of several parallel uses gets the row. @returns null for a code that is spent, expired or unknown, or whose user signed out */
  async spend(project: Project, codeHash: Buffer, now: Date): Promise<SpentCode | null> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:spend-oauth-code',
      text: `update auth.oauth_authorizations a set spent_at = $2 from auth.sessions s join auth.users u on u.id = s.user_id
        where a.code_hash = $1 and a.spent_at is null and a.expires_at > $2 and s.id = a.session_id and ${isLive('$2')}
        returning a.id, a.user_id, a.client_id, a.redirect_uri, a.scope, a.nonce, a.code_challenge,
          s.created_at as signed_in_at, s.aal, s.amr::text as amr`,
      values: [codeHash, now],
    });
    return rows[0] ? toSpentCode(rows[0]) : null;
  }

  /**
   * A code that is used twice was stolen, so the session that it gave ends (OAuth 2.1, 4.1.3). Deleting the row of the code also
   * prevents the session that another request is about to begin.
   */
  async endSessionOf(
    project: Project,
    codeHash: Buffer,
    sessionId: string,
    audit: AuditEntry,
  ): Promise<void> {
    const ending = {
      name: 'auth:end-session-of-code',
      steps: {
        ended: `update auth.sessions set revoked_at = $2 where id = $1 and revoked_at is null returning user_id as id`,
      },
      audited: 'ended',
      query: 'select from ended',
      values: [sessionId, audit.now],
    } as const;
    await this.rls.systemBatch(project.database, REASON, [
      {
        name: 'auth:drop-oauth-code',
        text: 'delete from auth.oauth_authorizations where code_hash = $1 and spent_at is not null',
        values: [codeHash],
      },
      { ...withAudit(ending, audit), endsSessions: true },
    ]);
  }

  /** The newest first. @returns null if the session is over */
  async grants(project: Project, { userId, sessionId }: SessionOwner, now: Date): Promise<Grant[] | null> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:list-oauth-grants',
      text: `select l.user_id, g.scope, g.granted_at, ${CLIENT_COLUMNS}
        from (select s.user_id from auth.sessions s join auth.users u on u.id = s.user_id
          where s.id = $2 and s.user_id = $1 and ${isLive('$3')}) l
        left join (auth.oauth_consents g join auth.oauth_clients c on c.id = g.client_id) on g.user_id = l.user_id
        order by g.granted_at desc limit 1000`,
      values: [userId, sessionId, now],
    });
    if (rows.length === 0) return null;
    return rows.filter(({ id }) => id !== null).map(toGrant);
  }

  /** Ends the codes and sessions of the client too. @returns null if the session is over, false if there is no such grant */
  async revoke(
    project: Project,
    { userId, sessionId }: SessionOwner,
    clientId: string,
    audit: AuditEntry,
  ): Promise<boolean | null> {
    const change = {
      name: 'auth:revoke-oauth-grant',
      steps: {
        me: `select u.id from auth.sessions s join auth.users u on u.id = s.user_id
          where s.id = $2 and s.user_id = $1 and ${isLive('$4')}`,
        gone: `delete from auth.oauth_consents g using me where g.user_id = me.id and g.client_id = $3 returning me.id`,
        codes: `delete from auth.oauth_authorizations a using gone where a.user_id = gone.id and a.client_id = $3`,
      },
      audited: 'gone',
      query: 'select exists (select from gone) as is_gone from me',
      values: [userId, sessionId, clientId, audit.now],
    } as const;
    const [revoked] = await this.rls.systemBatch(project.database, REASON, [
      withAudit(change, audit),
      // A session that began while the statement before waited for its code is seen here.
      {
        name: 'auth:end-oauth-sessions',
        text: `update auth.sessions o set revoked_at = $4
          where o.user_id = $1 and o.oauth_client_id = $3 and o.revoked_at is null and exists (
            select from auth.sessions s join auth.users u on u.id = s.user_id
            where s.id = $2 and s.user_id = $1 and ${isLive('$4')})`,
        values: [userId, sessionId, clientId, audit.now],
        endsSessions: true,
      },
    ]);
    const [row] = revoked?.rows ?? [];
    return row ? new RecordReader('auth.oauth_consents', row).boolean('is_gone') : null;
  }

  /** Null for a session that belongs to no application. */
  async scopeOf(project: Project, sessionId: string): Promise<string | null> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:scope-of-session',
      text: 'select oauth_scope from auth.sessions where id = $1',
      values: [sessionId],
    });
    return rows[0] ? new RecordReader('auth.sessions', rows[0]).textOrNull('oauth_scope', MAX_SCOPE) : null;
  }
}

function toSpentCode(row: QueryResultRow): SpentCode {
  const code = new RecordReader(AUTHORIZATIONS, row);
  return {
    id: code.uuid('id'),
    userId: code.uuid('user_id'),
    clientId: code.uuid('client_id'),
    redirectUri: code.text('redirect_uri', MAX_URI),
    scope: code.text('scope', MAX_SCOPE),
    nonce: code.textOrNull('nonce', MAX_NONCE),
    challenge: code.text('code_challenge', 200),
    signedInAt: code.date('signed_in_at'),
    aal: code.oneOf('aal', [ONE_FACTOR, TWO_FACTORS]),
    amr: toMethods(code.text('amr', MAX_AMR)),
  };
}

function toGrant(row: QueryResultRow): Grant {
  const grant = new RecordReader('auth.oauth_consents', row);
  return {
    client: toClient(row),
    scope: grant.text('scope', MAX_SCOPE),
    grantedAt: grant.date('granted_at'),
  };
}
