/** Raises a session to two factors with a code. */
import { Injectable } from '@nestjs/common';
import { TWO_FACTORS } from '../../access/caller';
import { Statement } from '../../database/statement';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { ACCOUNT_COLUMNS } from '../accounts/account-record';
import { methodReference, SessionOwner, SHORT_TIMEOUT } from '../accounts/account-statements';
import { AuditEntry } from '../audit/audit-entry';
import { withAudit } from '../audit/with-audit';
import { callingClaims, claimsOf, withClaims } from '../sessions/custom-claims';
import { CustomClaimsHook } from '../sessions/custom-claims-hook.service';
import { RotatedSession, toRotated } from '../sessions/session';
import { lockOwner, ME, ownerValues } from './factor-statements';

const REASON = 'auth.factors and auth.sessions are closed to the roles of callers';

interface UsedCode {
  /** The factor's id. */
  readonly id: string;
  /** The time step of the code. It and all older steps are spent afterwards. */
  readonly step: number;
}

@Injectable()
export class SessionRaiseRepository {
  constructor(
    private readonly rls: RlsTransaction,
    private readonly hook: CustomClaimsHook,
  ) {}

  /**
   * Spends a code and raises the session. Of parallel uses of a code, only one succeeds. The first code of a factor also ends
   * the user's other sessions of one factor, which the password alone began.
   * @returns null if the code was spent before, or the session is over
   */
  async raise(
    project: Project,
    owner: SessionOwner,
    code: UsedCode,
    audit: AuditEntry,
  ): Promise<RotatedSession | null> {
    const given = await this.hook.ofUser(project, owner.userId);
    const results = await callingClaims(
      this.rls.systemBatch(project.database, REASON, [
        SHORT_TIMEOUT,
        ...lockOwner(owner),
        raising(project, owner, code, audit),
        endingWeakSessions(owner, code, audit.now),
      ]),
    );
    const row = results.at(-2)?.rows[0];
    return row ? toRotated(row, owner.sessionId, project, given) : null;
  }
}

/** Skips a number of the refresh token, so that a token from before the code is void at once, without the grace period. */
function raising(
  project: Project,
  owner: SessionOwner,
  { id, step }: UsedCode,
  audit: AuditEntry,
): Statement {
  const change = {
    name: 'auth:raise-session',
    steps: {
      me: ME,
      used: `update auth.factors f set last_step = $6, last_used_at = $3, verified_at = coalesce(f.verified_at, $3)
        from me where f.id = $5 and f.user_id = me.id and f.last_step < $6
          and (f.verified_at is not null or me.strong)
        returning f.user_id as id`,
      raised: `update auth.sessions s set aal = '${TWO_FACTORS}', refresh_count = s.refresh_count + 2, refreshed_at = $3,
          amr = ${methodReference("'totp'", '$3')} || coalesce((select jsonb_agg(entry) from jsonb_array_elements(s.amr) entry
            where entry ->> 'method' <> 'totp'), '[]')
        from used, me, auth.users u where s.id = me.session_id and u.id = used.id
        returning s.refresh_count, s.aal, s.amr::text as amr, s.revoked_at, ${ACCOUNT_COLUMNS}`,
    },
    audited: 'used',
    query: `select r.*, ${claimsOf('r.id', project)} as claims from raised r`,
    values: [...ownerValues(owner, audit.now), id, step],
  } as const;
  return withClaims(withAudit(change, audit), project);
}

/** Does nothing unless the code is the first one of its factor. */
const endingWeakSessions = (
  { sessionId, userId }: SessionOwner,
  { id, step }: UsedCode,
  now: Date,
): Statement => ({
  name: 'auth:end-weak-sessions',
  text: `update auth.sessions set revoked_at = $3
    where user_id = $2 and id <> $1 and aal <> '${TWO_FACTORS}' and revoked_at is null and exists (
      select from auth.factors f where f.id = $4 and f.user_id = $2 and f.verified_at = $3 and f.last_step = $5)`,
  values: [sessionId, userId, now, id, step],
  endsSessions: true,
});
