/** Rows of auth.factors. What weakens or adds a factor is allowed by the statement that does it. */
import { Injectable } from '@nestjs/common';
import type { QueryResultRow } from 'pg';
import { TWO_FACTORS } from '../../access/caller';
import { Statement } from '../../database/pools/pipelined-query';
import { RecordReader } from '../../database/rows/record-reader';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { ACCOUNT_COLUMNS } from '../accounts/account-record';
import { lockAccount } from '../accounts/account-statements';
import { audited, AuditEntry } from '../audit/audit.repository';
import { callingClaims, claimsOf } from '../sessions/custom-claims';
import { isLive, RotatedSession, SessionOwner, toRotated } from '../sessions/session.repository';
import { Factor } from './factor';
import { SHORT_TIMEOUT } from '../accounts/short-timeout';

const REASON = 'a user manages their own second factors';
const ADMIN_REASON = 'the service-role key asks for it';
const TABLE = 'auth.factors';
/** UTF-16 code units of a name, of which the table's constraint allows 320 characters. */
const MAX_NAME = 640;
/** Bytes of a sealed secret; Plinth's own have 61. */
const MAX_SEALED = 1_024;
/** Factors that one account may have. */
export const MAX_FACTORS = 10;
/** Seconds after which a factor that nobody verified makes room. */
const UNVERIFIED_SECONDS = 900;

const FACTOR_COLUMNS = 'f.id, f.name, f.created_at, f.verified_at, f.last_used_at';

/** `me`: the signed-in user, $1 session, $2 user, $3 now; `strong` unless a second factor is set up and was not shown. */
const ME = `me as (
  select u.id, s.id as session_id, u.email, ($4 = '${TWO_FACTORS}' or not exists (
      select from auth.factors v where v.user_id = u.id and v.verified_at is not null)) as strong
  from auth.sessions s join auth.users u on u.id = s.user_id
  where s.id = $1 and s.user_id = $2 and ${isLive('$3')})`;

export interface NewFactor {
  readonly id: string;
  readonly name: string;
  readonly sealedSecret: Buffer;
  readonly now: Date;
}

export interface SealedFactor {
  readonly sealedSecret: Buffer;
  readonly verified: boolean;
}

/** Who asks, and whether the session showed what that needs. Null: the session is over. */
export type Allowed<T> = { readonly strong: false } | { readonly strong: true; readonly found: T } | null;

@Injectable()
export class FactorRepository {
  constructor(private readonly rls: RlsTransaction) {}

  /** @returns found: false when the account has as many as it may have */
  async insert(
    project: Project,
    owner: SessionOwner,
    factor: NewFactor,
    audit: AuditEntry,
  ): Promise<Allowed<boolean>> {
    const statement = {
      name: 'auth:insert-factor',
      text: `with ${ME},
        stale as (
          delete from auth.factors f using me where f.user_id = me.id and me.strong and f.verified_at is null
            and f.created_at < $3::timestamptz - interval '${UNVERIFIED_SECONDS} seconds' returning f.id),
        made as (
          insert into auth.factors (id, user_id, name, sealed_secret, created_at)
          select $5, me.id, $6, $7, $3 from me where me.strong and ${MAX_FACTORS} > (
            select count(*) from auth.factors f where f.user_id = me.id and f.id not in (select id from stale))
          returning user_id as id),
        /* audit from made */ select me.strong, exists (select from made) as found from me`,
      values: [...valuesOf(owner, factor.now), factor.id, factor.name, factor.sealedSecret],
    };
    return this.allowed(project, owner, audited(statement, audit));
  }

  /** The user's factors, the oldest first; null when the session is over. */
  async list(project: Project, owner: SessionOwner, now: Date): Promise<Factor[] | null> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:list-factors',
      text: `with ${ME} select me.id as me, ${FACTOR_COLUMNS} from me left join auth.factors f on f.user_id = me.id
        order by f.created_at, f.id`,
      values: valuesOf(owner, now),
    });
    return rows.length === 0 ? null : rows.filter(({ id }) => id !== null).map(toFactor);
  }

  /** What a code is compared with; null when there is no such factor of the user's, or the session is over. */
  async find(project: Project, owner: SessionOwner, id: string, now: Date): Promise<SealedFactor | null> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:find-factor',
      text: `with ${ME} select f.sealed_secret, f.verified_at from me join auth.factors f on f.user_id = me.id
        where f.id = $5 and (f.verified_at is not null or me.strong)`,
      values: [...valuesOf(owner, now), id],
    });
    const [row] = rows;
    if (!row) return null;
    const factor = new RecordReader(TABLE, row);
    return {
      sealedSecret: factor.bytes('sealed_secret', MAX_SEALED),
      verified: !factor.isNull('verified_at'),
    };
  }

  /**
   * Spends a code and raises the session. Of parallel uses of one code one finds its step unspent. The refresh token
   * skips a number, so that one of the session as it was before is of no use, not even for the moment of grace. With the
   * first code of a factor, the user's other sessions of one factor end: a password alone began them.
   * @param step of the code; it and older ones are spent afterwards
   * @returns null when the code was spent before, or the session is over
   */
  async raise(
    project: Project,
    owner: SessionOwner,
    { id, step, now }: { id: string; step: number; now: Date },
    audit: AuditEntry,
  ): Promise<RotatedSession | null> {
    const raise = {
      name: 'auth:raise-session',
      text: `with ${ME},
        used as (
          update auth.factors f set last_step = $6, last_used_at = $3, verified_at = coalesce(f.verified_at, $3)
          from me where f.id = $5 and f.user_id = me.id and f.last_step < $6
            and (f.verified_at is not null or me.strong)
          returning f.user_id as id),
        raised as (
          update auth.sessions s set aal = '${TWO_FACTORS}', refresh_count = s.refresh_count + 2, refreshed_at = $3
          from used, me, auth.users u where s.id = me.session_id and u.id = used.id
          returning s.refresh_count, s.aal, s.revoked_at, ${ACCOUNT_COLUMNS}),
        /* audit from used */ select r.*, ${claimsOf('r.id')} as claims from raised r`,
      values: [...valuesOf(owner, now), id, step],
    };
    const endOthers = {
      name: 'auth:end-weak-sessions',
      text: `update auth.sessions set revoked_at = $3
        where user_id = $2 and id <> $1 and aal <> '${TWO_FACTORS}' and revoked_at is null and exists (
          select from auth.factors f where f.id = $4 and f.user_id = $2 and f.verified_at = $3 and f.last_step = $5)`,
      values: [owner.sessionId, owner.userId, now, id, step],
    };
    const statements = [SHORT_TIMEOUT, ...locks(owner), audited(raise, audit), endOthers];
    const results = await callingClaims(this.rls.systemBatch(project.database, REASON, statements));
    const row = results.at(-2)?.rows[0];
    return row ? toRotated(row, owner.sessionId) : null;
  }

  /** @returns found: false when there is no such factor */
  async remove(
    project: Project,
    owner: SessionOwner,
    id: string,
    now: Date,
    audit: AuditEntry,
  ): Promise<Allowed<boolean>> {
    const statement = {
      name: 'auth:remove-factor',
      text: `with ${ME},
        gone as (
          delete from auth.factors f using me where f.id = $5 and f.user_id = me.id and me.strong
          returning f.user_id as id),
        ${lowered('$5')},
        /* audit from gone */ select me.strong, exists (select from gone) as found from me`,
      values: [...valuesOf(owner, now), id],
    };
    return this.allowed(project, owner, audited(statement, audit));
  }

  /** An account's factors, for an administrator. */
  async listOf(project: Project, userId: string): Promise<Factor[]> {
    const { rows } = await this.rls.systemQuery(project.database, ADMIN_REASON, {
      text: `select ${FACTOR_COLUMNS} from auth.factors f where f.user_id = $1 order by f.created_at, f.id`,
      values: [userId],
    });
    return rows.map(toFactor);
  }

  /** For a user who has lost it. @returns false when there is no such factor */
  async removeOf(project: Project, userId: string, id: string, audit: AuditEntry): Promise<boolean> {
    const statement = {
      text: `with gone as (delete from auth.factors where id = $1 and user_id = $2 returning user_id as id),
        ${lowered('$1')},
        /* audit from gone */ select id from gone`,
      values: [id, userId],
    };
    const statements = [lockAccount(userId), audited(statement, audit)];
    const [, gone] = await this.rls.systemBatch(project.database, ADMIN_REASON, statements);
    return gone?.rows.length === 1;
  }

  /** @param statement that answers `strong` and `found` */
  private async allowed(
    project: Project,
    owner: SessionOwner,
    statement: Statement,
  ): Promise<Allowed<boolean>> {
    const statements = [...locks(owner), statement];
    const row = (await this.rls.systemBatch(project.database, REASON, statements)).at(-1)?.rows[0];
    if (!row) return null;
    return row.strong === true ? { strong: true, found: row.found as boolean } : { strong: false };
  }
}

/** For a batch that counts a user's factors. The session cannot end before the batch does. */
const locks = ({ userId, sessionId }: SessionOwner): Statement[] => [
  lockAccount(userId),
  {
    name: 'auth:lock-session',
    text: 'select from auth.sessions where id = $1 for no key update',
    values: [sessionId],
  },
];

/**
 * Sessions of an account whose last verified factor is gone are sessions of one factor again.
 * @param factor parameter with the id of the one that goes: the statement's own snapshot still shows it
 */
const lowered = (factor: string): string => `lowered as (
  update auth.sessions s set aal = 'aal1' from gone where s.user_id = gone.id and s.aal = '${TWO_FACTORS}'
    and not exists (select from auth.factors v where v.user_id = gone.id and v.verified_at is not null and v.id <> ${factor}))`;

function valuesOf({ sessionId, userId, aal }: SessionOwner, now: Date): unknown[] {
  return [sessionId, userId, now, aal];
}

/** @throws AppError 500 for a value that the project's owner put in its place */
function toFactor(row: QueryResultRow): Factor {
  const factor = new RecordReader(TABLE, row);
  return {
    id: factor.uuid('id'),
    name: factor.text('name', MAX_NAME),
    createdAt: factor.date('created_at'),
    verifiedAt: factor.dateOrNull('verified_at'),
    lastUsedAt: factor.dateOrNull('last_used_at'),
  };
}
