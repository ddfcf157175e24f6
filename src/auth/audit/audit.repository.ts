/** The audit trail: who did what, from where, when. Never a secret. */
import { Injectable } from '@nestjs/common';
import type { QueryResultRow } from 'pg';
import { JsonObject } from '../../common/text/json';
import { Statement, StatementResult } from '../../database/pools/pipelined-query';
import { RecordReader } from '../../database/rows/record-reader';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { RequestOrigin } from './request-origin';

export const AUDIT_ACTIONS = [
  'sign_up',
  'sign_in',
  'sign_in_failed',
  'sign_out',
  'session_revoked',
  'refresh_token_reused',
  'reset_requested',
  'password_updated',
  'verification_requested',
  'email_verified',
  'email_change_requested',
  'profile_updated',
  'factor_enrolled',
  'factor_verified',
  'factor_used',
  'factor_failed',
  'factor_removed',
  'user_created',
  'user_invited',
  'user_updated',
  'user_deleted',
  'user_signed_out',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export interface AuditEntry {
  readonly action: AuditAction;
  readonly now: Date;
  readonly origin: RequestOrigin;
  /** `service_role` for an administrator, `authenticated` for a signed-in user, else `anon`. */
  readonly actorRole: 'anon' | 'authenticated' | 'service_role';
  readonly actorId: string | null;
  /** Whose account it is about; null when the statement finds that out, or there is none. */
  readonly userId: string | null;
  readonly details?: JsonObject;
}

/** An entry as administrators see it. */
export interface AuditRecord {
  /** A bigint. */
  readonly id: string;
  readonly at: Date;
  /** One of AUDIT_ACTIONS, or what the project writes into the trail itself. */
  readonly action: string;
  readonly actor_id: string | null;
  readonly actor_role: string;
  readonly user_id: string | null;
  readonly ip: string | null;
  readonly user_agent: string | null;
  readonly details: JsonObject;
}

export interface AuditFilter {
  readonly action: string | null;
  readonly userId: string | null;
  readonly limit: number;
  readonly offset: number;
}

/** Bytes of a page of entries. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;
/** Characters. */
const MAX_WORD = 200;
const MAX_ORIGIN_TEXT = 1_000;
const MAX_DETAILS = 10_000;

const COLUMNS = 'at, action, actor_id, actor_role, user_id, ip, user_agent, details';
const TYPES = ['timestamptz', 'text', 'uuid', 'text', 'uuid', 'text', 'text', 'jsonb'];
const USER_ID = 4;

function valuesOf({ action, now, origin, actorRole, actorId, userId, details = {} }: AuditEntry): unknown[] {
  return [now, action, actorId, actorRole, userId, origin.ip, origin.userAgent, JSON.stringify(details)];
}

/** Stands in a statement where the entry goes, and names a CTE with the account's `id` that has a row if it happened. */
const MARK = /\/\* audit from (\w+) \*\//;

/**
 * Writes the trail in the statement that it tells of: an entry says that something happened, exactly when it did.
 * @param statement with a mark: `with u as (update ... returning id), [mark] select from u`
 */
export function audited(statement: Statement, entry: AuditEntry): Statement {
  const values = statement.values ?? [];
  const columns = TYPES.map((type, index) => {
    const parameter = `$${values.length + index + 1}::${type}`;
    return index === USER_ID ? `coalesce(${parameter}, happened.id)` : parameter;
  });
  return {
    ...statement,
    text: statement.text.replace(
      MARK,
      (_mark, cte: string) =>
        `audit as (insert into auth.audit_log (${COLUMNS}) select ${columns.join(', ')} from ${cte} happened)`,
    ),
    values: [...values, ...valuesOf(entry)],
  };
}

@Injectable()
export class AuditRepository {
  constructor(private readonly rls: RlsTransaction) {}

  /** For what changes nothing else, such as a sign-in that failed. */
  async write(project: Project, entry: AuditEntry): Promise<void> {
    await this.rls.systemQuery(project.database, 'the trail is written for whoever asks', {
      name: 'auth:audit',
      text: `insert into auth.audit_log (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      values: valuesOf(entry),
    });
  }

  /** The newest first. */
  async list(project: Project, filter: AuditFilter): Promise<{ total: number; entries: AuditRecord[] }> {
    const values = [filter.action, filter.userId];
    const where = `where ($1::text is null or action = $1) and ($2::uuid is null or user_id = $2)`;
    const [count, page] = (await this.rls.systemBatch(project.database, 'the service-role key reads it', [
      { text: `select count(*)::int as total from auth.audit_log ${where}`, values },
      {
        text: `select id, at, action, actor_id, actor_role, user_id, ip, user_agent, details::text as details
          from auth.audit_log ${where} order by id desc limit $3 offset $4`,
        values: [...values, filter.limit, filter.offset],
        maxBytes: MAX_PAGE_BYTES,
      },
    ])) as [StatementResult, StatementResult];
    return { total: count.rows[0]?.total as number, entries: page.rows.map(toAuditRecord) };
  }
}

/** @throws AppError 500 for a value that the project's owner put in its place */
function toAuditRecord(row: QueryResultRow): AuditRecord {
  const entry = new RecordReader('auth.audit_log', row);
  return {
    id: String(entry.integer('id', 0, Number.MAX_SAFE_INTEGER)),
    at: entry.date('at'),
    action: entry.text('action', MAX_WORD),
    actor_id: entry.uuidOrNull('actor_id'),
    actor_role: entry.text('actor_role', MAX_WORD),
    user_id: entry.uuidOrNull('user_id'),
    ip: entry.textOrNull('ip', MAX_ORIGIN_TEXT),
    user_agent: entry.textOrNull('user_agent', MAX_ORIGIN_TEXT),
    details: entry.jsonObject('details', MAX_DETAILS),
  };
}
