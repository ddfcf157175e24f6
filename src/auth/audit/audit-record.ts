/** Rows of auth.audit_log, read and checked: the owner of the project may have written anything into them. */
import type { QueryResultRow } from 'pg';
import { JsonObject } from '../../common/text/json';
import { RecordReader } from '../../database/rows/record-reader';

/** Limits in characters. */
const MAX_WORD = 200;
const MAX_ORIGIN_TEXT = 1_000;
const MAX_DETAILS = 10_000;

export const AUDIT_COLUMNS =
  'id, at, action, actor_id, actor_role, user_id, ip, user_agent, details::text as details';

/** An entry as administrators see it. */
export interface AuditRecord {
  /** A bigint. */
  readonly id: string;
  readonly at: Date;
  /** One of AUDIT_ACTIONS, or an action of the project's own SQL. */
  readonly action: string;
  readonly actor_id: string | null;
  readonly actor_role: string;
  readonly user_id: string | null;
  readonly ip: string | null;
  readonly user_agent: string | null;
  readonly details: JsonObject;
}

/** @param row with AUDIT_COLUMNS @throws AppError 500 for a value that the column cannot hold */
export function toAuditRecord(row: QueryResultRow): AuditRecord {
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
