/**
 * Rows of auth.factors. The statement with which a user adds or removes a factor also checks that the session may do so; others are
 * for administrators.
 */
import { Injectable } from '@nestjs/common';
import { Statement } from '../../database/statement';
import { RecordReader } from '../../database/rows/record-reader';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { SessionOwner, lockAccount } from '../accounts/account-statements';
import { AuditEntry, withAudit } from '../audit/audit-entry';
import {
  Factor,
  FACTOR_COLUMNS,
  FactorKind,
  SealedFactor,
  toFactor,
  toSealedFactor,
  factorsOf,
} from './factor';
import { lockOwner, lowerSessions, ME, ownerValues } from './factor-statements';

const REASON = 'auth.factors is closed to the roles of callers';
/** Factors of one account. */
export const MAX_FACTORS = 10;
/** Seconds after which an unverified factor may be deleted. */
const UNVERIFIED_SECONDS = 900;

export interface NewFactor {
  readonly id: string;
  readonly kind: FactorKind;
  readonly name: string;
  readonly sealedSecret: Buffer | null;
  readonly phone?: string;
}

/**
 * Null if the session is over. `strong` is false if the account has a verified factor and the session did not verify one;
 * nothing was changed then. `found` is true if a factor was added or removed.
 */
export type FactorOutcome = { readonly strong: boolean; readonly found: boolean } | null;

@Injectable()
export class FactorRepository {
  constructor(private readonly rls: RlsTransaction) {}

  /** @returns `found` is false if the account has MAX_FACTORS factors */
  async insert(
    project: Project,
    owner: SessionOwner,
    { id, kind, name, sealedSecret, phone }: NewFactor,
    audit: AuditEntry,
  ): Promise<FactorOutcome> {
    const change = {
      name: 'auth:insert-factor',
      steps: { me: ME, stale: DELETE_STALE, made: INSERT },
      audited: 'made',
      query: 'select me.strong, exists (select from made) as found from me',
      values: [...ownerValues(owner, audit.now), id, name, sealedSecret, kind, phone ?? null],
    } as const;
    return this.runStatement(project, owner, withAudit(change, audit));
  }

  /** @returns the user's factors, the oldest first; null if the session is over */
  async list(project: Project, owner: SessionOwner, now: Date): Promise<Factor[] | null> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:list-factors',
      text: `with me as (${ME}) select me.id as me, ${FACTOR_COLUMNS}
        from me left join auth.factors f on f.user_id = me.id order by f.created_at, f.id`,
      values: ownerValues(owner, now),
    });
    return rows.length === 0 ? null : rows.filter(({ id }) => id !== null).map(toFactor);
  }

  /** @returns null if the user has no such factor, or the session is over */
  async find(project: Project, owner: SessionOwner, id: string, now: Date): Promise<SealedFactor | null> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, {
      name: 'auth:find-factor',
      text: `with me as (${ME}) select f.kind, f.sealed_secret, f.credential::text as credential, f.phone, f.verified_at
        from me join auth.factors f on f.user_id = me.id
        where f.id = $5 and (f.verified_at is not null or me.strong)`,
      values: [...ownerValues(owner, now), id],
    });
    return rows[0] ? toSealedFactor(rows[0]) : null;
  }

  /** @returns `found` is false if there is no such factor */
  async remove(project: Project, owner: SessionOwner, id: string, audit: AuditEntry): Promise<FactorOutcome> {
    const change = {
      name: 'auth:remove-factor',
      steps: {
        me: ME,
        gone: `delete from auth.factors f using me where f.id = $5 and f.user_id = me.id and me.strong
          returning f.user_id as id`,
        lowered: lowerSessions('$5'),
      },
      audited: 'gone',
      query: 'select me.strong, exists (select from gone) as found from me',
      values: [...ownerValues(owner, audit.now), id],
    } as const;
    return this.runStatement(project, owner, withAudit(change, audit));
  }

  /** The factors of an account, the oldest first. */
  async listOf(project: Project, userId: string): Promise<Factor[]> {
    const { rows } = await this.rls.systemQuery(project.database, REASON, factorsOf(userId));
    return rows.map(toFactor);
  }

  /** For administrators. @returns false if there is no such factor */
  async removeOf(project: Project, userId: string, id: string, audit: AuditEntry): Promise<boolean> {
    const change = {
      steps: {
        gone: 'delete from auth.factors where id = $1 and user_id = $2 returning user_id as id',
        lowered: lowerSessions('$1'),
      },
      audited: 'gone',
      query: 'select id from gone',
      values: [id, userId],
    } as const;
    const statements = [lockAccount(userId), withAudit(change, audit)];
    const [, gone] = await this.rls.systemBatch(project.database, REASON, statements);
    return gone?.rows.length === 1;
  }

  /** @param statement that selects `strong` and `found` */
  private async runStatement(
    project: Project,
    owner: SessionOwner,
    statement: Statement,
  ): Promise<FactorOutcome> {
    const statements = [...lockOwner(owner), statement];
    const results = await this.rls.systemBatch(project.database, REASON, statements);
    const row = results.at(-1)?.rows[0];
    if (!row) return null;
    const outcome = new RecordReader('auth.factors', row);
    return { strong: outcome.boolean('strong'), found: outcome.boolean('found') };
  }
}

const DELETE_STALE = `
  delete from auth.factors f using me where f.user_id = me.id and me.strong and f.verified_at is null
    and f.created_at < $3::timestamptz - interval '${UNVERIFIED_SECONDS} seconds' returning f.id`;

const INSERT = `
  insert into auth.factors (id, user_id, name, sealed_secret, kind, phone, created_at)
  select $5, me.id, $6, $7, $8, $9, $3 from me where me.strong and ${MAX_FACTORS} > (
    select count(*) from auth.factors f where f.user_id = me.id and f.id not in (select id from stale))
  returning user_id as id`;
