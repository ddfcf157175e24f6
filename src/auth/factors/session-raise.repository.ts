/** Raises a session to two factors with a proof: a code, or the signature of a key. */
import { Injectable } from '@nestjs/common';
import { TWO_FACTORS } from '../../access/caller';
import { Statement } from '../../database/statement';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { ACCOUNT_COLUMNS } from '../accounts/account-record';
import { methodReference, SessionOwner, SHORT_TIMEOUT } from '../accounts/account-statements';
import { AuditEntry, withAudit } from '../audit/audit-entry';
import { callingClaims, claimsOf, withClaims } from '../sessions/custom-claims';
import { CustomClaimsHook } from '../sessions/custom-claims-hook.service';
import { RotatedSession, type SignInMethod, toRotated } from '../sessions/session';
import { lockOwner, ME, ownerValues } from './factor-statements';

const REASON = 'auth.factors and auth.sessions are closed to the roles of callers';

export interface FactorProof {
  /** The time step of a code, or the time of a challenge. It and all older steps are spent afterwards. */
  readonly step: number;
  readonly method: SignInMethod;
  /** The key with its new counter, as JSON. */
  readonly credential?: string;
}

interface UsedProof extends FactorProof {
  /** The factor's id. */
  readonly id: string;
}

@Injectable()
export class SessionRaiseRepository {
  constructor(
    private readonly rls: RlsTransaction,
    private readonly hook: CustomClaimsHook,
  ) {}

  /**
   * Spends a proof and raises the session. Of parallel uses of a proof, only one succeeds. The first proof of a factor also ends
   * the user's other sessions of one factor, which the password alone began.
   * @returns null if the proof was spent before, or the session is over
   */
  async raise(
    project: Project,
    owner: SessionOwner,
    proof: UsedProof,
    audit: AuditEntry,
  ): Promise<RotatedSession | null> {
    const given = await this.hook.ofUser(project, owner.userId);
    const results = await callingClaims(
      this.rls.systemBatch(project.database, REASON, [
        SHORT_TIMEOUT,
        ...lockOwner(owner),
        raising(project, owner, proof, audit),
        endingWeakSessions(owner, proof, audit.now),
      ]),
    );
    const row = results.at(-2)?.rows[0];
    return row ? toRotated(row, owner.sessionId, project, given) : null;
  }
}

/**
 * Skips one number of the refresh token, so that a token from before the proof is void immediately, without the grace period.
 */
function raising(
  project: Project,
  owner: SessionOwner,
  { id, step, method, credential }: UsedProof,
  audit: AuditEntry,
): Statement {
  const change = {
    name: 'auth:raise-session',
    steps: {
      me: ME,
      used: `update auth.factors f set last_step = $6, credential = coalesce($8::jsonb, f.credential), last_used_at = $3, verified_at = coalesce(f.verified_at, $3)
        from me where f.id = $5 and f.user_id = me.id and f.last_step < $6
          and (f.verified_at is not null or me.strong)
        returning f.user_id as id`,
      raised: `update auth.sessions s set aal = '${TWO_FACTORS}', refresh_count = s.refresh_count + 2, refreshed_at = $3,
          amr = ${methodReference('$7', '$3')} || coalesce((select jsonb_agg(entry) from jsonb_array_elements(s.amr) entry
            where entry ->> 'method' <> $7), '[]')
        from used, me, auth.users u where s.id = me.session_id and u.id = used.id
        returning s.refresh_count, s.aal, s.amr::text as amr, s.revoked_at, ${ACCOUNT_COLUMNS}`,
    },
    audited: 'used',
    query: `select r.*, ${claimsOf('r.id', project)} as claims from raised r`,
    values: [...ownerValues(owner, audit.now), id, step, method, credential ?? null],
  } as const;
  return withClaims(withAudit(change, audit), project);
}

/** Does nothing unless the proof is the first one of its factor. */
const endingWeakSessions = (
  { sessionId, userId }: SessionOwner,
  { id, step }: UsedProof,
  now: Date,
): Statement => ({
  name: 'auth:end-weak-sessions',
  text: `update auth.sessions set revoked_at = $3
    where user_id = $2 and id <> $1 and aal <> '${TWO_FACTORS}' and revoked_at is null and exists (
      select from auth.factors f where f.id = $4 and f.user_id = $2 and f.verified_at = $3 and f.last_step = $5)`,
  values: [sessionId, userId, now, id, step],
  endsSessions: true,
});
