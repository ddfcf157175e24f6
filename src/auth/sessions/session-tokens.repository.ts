/** Begins sessions and rotates their refresh tokens: the statements that call auth.custom_claims() of the project. */
import { Injectable } from '@nestjs/common';
import type { QueryResultRow } from 'pg';
import { JsonObject } from '../../common/text/json';
import { Statement } from '../../database/statement';
import { RecordReader } from '../../database/rows/record-reader';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { Account, AccountToInsert } from '../accounts/account';
import { ACCOUNT_COLUMNS, toAccount } from '../accounts/account-record';
import { accountInsertion } from '../accounts/account.repository';
import { isLive, methodReference, SHORT_TIMEOUT } from '../accounts/account-statements';
import { MAX_EMAIL } from '../../identity/email-address';
import { AuditEntry, withAudit } from '../audit/audit-entry';
import { RequestOrigin } from '../../identity/request-origin';
import { callingClaims, claimsOf, toCustomClaims, withClaims } from './custom-claims';
import { CustomClaimsHook } from './custom-claims-hook.service';
import { RefreshTokenContent } from './refresh-token.service';
import { NewSession, RotatedSession, SessionGrant, toRotated } from './session';

/** Seconds after its use during which a spent refresh token gets the same successor again. */
const REUSE_GRACE_SECONDS = 10;
/** Days for which the owner of a project can still see an ended session in auth.sessions. */
const ENDED_SESSION_DAYS = 7;

@Injectable()
export class SessionTokensRepository {
  constructor(
    private readonly rls: RlsTransaction,
    private readonly hook: CustomClaimsHook,
  ) {}

  /** @returns the project's custom claims; null if the account was changed or banned in the meantime */
  async begin(project: Project, session: NewSession, audit: AuditEntry): Promise<JsonObject | null> {
    const given = await this.hook.ofUser(project, session.userId);
    const rows = await this.withClaims(
      project,
      'a sign-in has no caller yet',
      sessionInsertion(project, session, audit),
    );
    return rows[0] ? (given ?? toCustomClaims(rows[0].claims, project)) : null;
  }

  /** The address and the custom claims of a user; null for an unknown user. */
  async findClaims(project: Project, userId: string): Promise<{ email: string; custom: JsonObject } | null> {
    const given = await this.hook.ofUser(project, userId);
    const [row] = await this.withClaims(project, 'an administrator views the project as a user', {
      text: `select u.email, ${claimsOf('u.id', project)} as claims from auth.users u where u.id = $1`,
      values: [userId],
    });
    if (!row) return null;
    const email = new RecordReader('auth.users', row).text('email', 2 * MAX_EMAIL);
    return { email, custom: given ?? toCustomClaims(row.claims, project) };
  }

  /** Creates an account with its first session, both or neither. Fails with 23505 on users_email_key for a taken address. */
  async beginWithAccount(
    project: Project,
    account: AccountToInsert,
    session: NewSession,
    audit: AuditEntry,
  ): Promise<{ account: Account; customClaims: JsonObject }> {
    const statements = [
      accountInsertion(account, audit),
      SHORT_TIMEOUT,
      sessionInsertion(project, session, { ...audit, action: 'sign_in' }),
    ];
    const given = await this.hook.ofNew(project, account);
    const results = this.rls.systemBatch(project.database, 'a sign-up has no caller yet', statements);
    const [created, , begun] = await callingClaims(results);
    const customClaims = given ?? toCustomClaims(begun?.rows[0]?.claims, project);
    return { account: toAccount(created?.rows[0] ?? {}), customClaims };
  }

  /**
   * Rotates a refresh token in one statement. Of parallel uses, the first rotates it; the others wait for the row, find it
   * rotated and get the same successor.
   * @param expiresAt the new end of the session
   * @param clientId the application that sent the token; null for the user's own client
   * @returns null if the session is over, unknown, or another client's
   */
  async rotate(
    project: Project,
    { sessionId, number }: RefreshTokenContent,
    {
      now,
      expiresAt,
      origin,
      clientId,
    }: { now: Date; expiresAt: Date; origin: RequestOrigin; clientId: string | null },
  ): Promise<RotatedSession | null> {
    // Runs before the rotation, so that a failure leaves the token unchanged.
    const given = await this.hook.ofSession(project, sessionId);
    const rows = await this.withClaims(project, 'a refresh token is the only credential', {
      name: 'auth:rotate-session',
      text: rotation(project),
      values: [sessionId, number, now, expiresAt, origin.ip, origin.userAgent, clientId],
    });
    return rows[0] ? toRotated(rows[0], sessionId, project, given) : null;
  }

  private async withClaims(
    project: Project,
    reason: string,
    statement: Statement,
  ): Promise<QueryResultRow[]> {
    const results = this.rls.systemBatch(project.database, reason, [
      SHORT_TIMEOUT,
      withClaims(statement, project),
    ]);
    const [, result] = await callingClaims(results);
    return result?.rows ?? [];
  }
}

const rotation = (project: Project): string => `with rotated as (
    update auth.sessions s set
      refresh_count = case when s.refresh_count = $2 then $2 + 1 else s.refresh_count end,
      refreshed_at = case when s.refresh_count = $2 then $3 else s.refreshed_at end,
      expires_at = case when s.refresh_count = $2 then $4 else s.expires_at end,
      ip = case when s.refresh_count = $2 then $5 else s.ip end,
      user_agent = case when s.refresh_count = $2 then $6 else s.user_agent end,
      revoked_at = case when s.refresh_count = $2 or (s.refresh_count = $2 + 1
        and s.refreshed_at > $3::timestamptz - interval '${REUSE_GRACE_SECONDS} seconds') then null else $3::timestamptz end
    from auth.users u
    where s.id = $1 and u.id = s.user_id and ${isLive('$3')} and s.oauth_client_id is not distinct from $7::uuid
    returning s.oauth_client_id, s.refresh_count, s.aal, s.amr::text as amr, s.revoked_at, ${ACCOUNT_COLUMNS})
  select r.*, ${claimsOf('r.id', project)} as claims from rotated r`;

/** Parts of the statement that begins a session. */
interface SessionParts {
  readonly name: string;
  readonly steps: Readonly<Record<string, string>>;
  readonly condition: string;
  readonly columns: string;
  readonly selected: string;
  readonly values: readonly unknown[];
}

const OF_USER: SessionParts = { name: '', steps: {}, condition: '', columns: '', selected: '', values: [] };

/** A request that uses the code again, or revokes the grant, waits for this session and then ends it. */
const ofGrant = ({ authorizationId, clientId, scope, aal, amr }: SessionGrant): SessionParts => ({
  name: '-of-grant',
  steps: { a: 'select from auth.oauth_authorizations where id = $11 and spent_at is not null for share' },
  condition: ' and exists (select from a)',
  columns: ', aal, oauth_client_id, oauth_scope',
  selected: ' || $12::jsonb, $13, $14, $15',
  values: [authorizationId, JSON.stringify(amr), aal, clientId, scope],
});

/** Begins a session, unless the account was changed or banned in the meantime. Its row has the custom claims. */
function sessionInsertion(project: Project, session: NewSession, audit: AuditEntry): Statement {
  const { id, userId, passwordHash, groups, newPasswordHash, expiresAt, origin, method, grant } = session;
  const of = grant ? ofGrant(grant) : OF_USER;
  const insertion = {
    name: `auth:insert-session${of.name}`,
    steps: {
      ...of.steps,
      u: `update auth.users set last_sign_in_at = $4, encrypted_password = coalesce($3, encrypted_password)
        where id = $2 and encrypted_password is not distinct from $8
          and ($10::jsonb is null or app_data -> 'groups' = $10)
          and (banned_until is null or banned_until <= $4)${of.condition}
        returning id`,
      s: `insert into auth.sessions (id, user_id, created_at, refreshed_at, expires_at, ip, user_agent, amr${of.columns})
        select $1, u.id, $4, $4, $5, $6, $7, ${methodReference('$9', '$4')}${of.selected} from u`,
      ended: `delete from auth.sessions o using u where o.user_id = u.id
        and least(o.revoked_at, o.expires_at) < $4::timestamptz - interval '${ENDED_SESSION_DAYS} days'`,
    },
    audited: 'u',
    query: `select ${claimsOf('u.id', project)} as claims from u`,
    values: [
      id,
      userId,
      newPasswordHash,
      audit.now,
      expiresAt,
      origin.ip,
      origin.userAgent,
      passwordHash,
      method,
      groups,
      ...of.values,
    ],
  } as const;
  return withClaims(withAudit(insertion, audit), project);
}
