/** Rows of auth.sessions that a signed-in user lists and ends, and that administrators list. */
import { Injectable } from '@nestjs/common';
import { RecordReader } from '../../database/rows/record-reader';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import type { Sender } from '../../identity/request-origin';
import { Project } from '../../projects/project';
import { isLive, SessionOwner } from '../accounts/account-statements';
import { AuditEntry, withAudit } from '../audit/audit-entry';
import { LogoutScope, SessionInfo, toSessionInfo } from './session';

const REASON = 'auth.sessions is closed to the roles of callers';

/** SQL: the live session of the signed-in user: $1 session, $2 user, $3 now. */
const CURRENT = `select u.id, s.id as session_id from auth.sessions s join auth.users u on u.id = s.user_id
  where s.id = $1 and s.user_id = $2 and ${isLive('$3')}`;

/** SQL: the live sessions of the user $1; $2 is now. */
const LIVE = `select s.id, s.created_at, s.refreshed_at, s.expires_at, s.ip, s.user_agent, s.aal
  from auth.sessions s join auth.users u on u.id = s.user_id where s.user_id = $1 and ${isLive('$2')}`;
/** Sessions of a user that an administrator sees: there may be any number. */
const MAX_LISTED = 100;

@Injectable()
export class SessionRepository {
  constructor(private readonly rls: RlsTransaction) {}

  /** @returns the live sessions of the user, the newest first; null if the current one is over */
  async list(project: Project, owner: SessionOwner, now: Date): Promise<SessionInfo[] | null> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:list-sessions',
      text: `${LIVE} order by s.created_at desc, s.id`,
      values: [owner.userId, now],
    });
    const sessions = rows.map(toSessionInfo);
    return sessions.some(({ id }) => id === owner.sessionId) ? sessions : null;
  }

  /** At most MAX_LISTED, the last refreshed first. Empty if there is no such user, or the user is banned. */
  async listOf(project: Project, userId: string, now: Date): Promise<SessionInfo[]> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      text: `${LIVE} order by s.refreshed_at desc, s.id limit ${MAX_LISTED}`,
      values: [userId, now],
    });
    return rows.map(toSessionInfo);
  }

  /**
   * Whether no session of the user, or one that ended recently, has the same program and network. Clients of other sites send no
   * cookies, so there is no better criterion. Versions of programs are ignored.
   * @returns false for the first sign-in of an account
   */
  async isNewDevice({ project, origin: { ip, userAgent } }: Sender, userId: string): Promise<boolean> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:is-new-device',
      text: `select from auth.users u where u.id = $1 and u.last_sign_in_at is not null and not exists (
        select from auth.sessions s where s.user_id = u.id and regexp_replace(coalesce(s.user_agent, ''), '[0-9.]+', '', 'g') = $2
          and (s.ip = $3 or starts_with(s.ip, $4)))`,
      values: [userId, (userAgent ?? '').replaceAll(/[0-9.]+/g, ''), ip, networkOf(ip)],
    });
    return rows.length > 0;
  }

  /** Ends sessions of the user. @returns false if the current session was over already */
  async end(
    project: Project,
    { sessionId, userId }: SessionOwner,
    scope: LogoutScope,
    audit: AuditEntry,
  ): Promise<boolean> {
    const change = {
      name: 'auth:end-sessions',
      steps: {
        me: CURRENT,
        ended: `update auth.sessions o set revoked_at = $3 from me
          where o.user_id = me.id and o.revoked_at is null and case $4
            when 'local' then o.id = me.session_id when 'others' then o.id <> me.session_id else true end`,
      },
      audited: 'me',
      query: 'select id from me',
      values: [sessionId, userId, audit.now, scope],
    } as const;
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      ...withAudit(change, audit),
      endsSessions: true,
    });
    return rows.length === 1;
  }

  /** Ends one session of the user. @returns null if the current session is over, false if there is no session `id` */
  async endOne(
    project: Project,
    { sessionId, userId }: SessionOwner,
    id: string | null,
    audit: AuditEntry,
  ): Promise<boolean | null> {
    const change = {
      name: 'auth:end-session',
      steps: {
        me: CURRENT,
        ended: `update auth.sessions o set revoked_at = $3 from me
          where o.user_id = me.id and o.id = $4 and o.revoked_at is null and o.expires_at > $3
          returning o.user_id as id`,
      },
      audited: 'ended',
      query: 'select exists (select from ended) as ended from me',
      values: [sessionId, userId, audit.now, id],
    } as const;
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      ...withAudit(change, audit),
      endsSessions: true,
    });
    return rows[0] ? new RecordReader('auth.sessions', rows[0]).boolean('ended') : null;
  }
}

/** The beginning of the addresses of a network: all but the last number of IPv4 (also within IPv6), or three groups of IPv6. */
const networkOf = (ip: string): string =>
  (ip.includes('.') ? /^.*\./ : /^([0-9a-f]*:){1,3}/i).exec(ip)?.[0] ?? ip;
