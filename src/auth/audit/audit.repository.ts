/** Reads auth.audit_log, and writes the entries of events. The entries of changes are written by withAudit(). */
import { Injectable } from '@nestjs/common';
import { RecordReader } from '../../database/rows/record-reader';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { Project } from '../../projects/project';
import { AuditEntry, withAudit } from './audit-entry';
import type { QueryResultRow } from 'pg';
import { JsonObject } from '../../common/text/json';

/** Bytes of a page of entries. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;

const WHERE = 'where ($1::text is null or action = $1) and ($2::uuid is null or user_id = $2)';

interface AuditFilter {
  readonly action: string | null;
  readonly userId: string | null;
  readonly limit: number;
  readonly offset: number;
}

@Injectable()
export class AuditRepository {
  constructor(private readonly rls: RlsTransaction) {}

  /** Writes the entry of an event that changes nothing else, such as a failed sign-in. */
  async write(project: Project, entry: AuditEntry): Promise<void> {
    const event = {
      name: 'auth:audit',
      steps: { event: 'select null::uuid as id' },
      audited: 'event',
      query: 'select',
      values: [],
    } as const;
    const statement = withAudit(event, entry);
    await this.rls.systemQuery(project.database, 'no caller may write the audit trail', statement);
  }

  /** A page of entries, the newest first, and the number of entries on all pages. */
  async list(project: Project, filter: AuditFilter): Promise<{ total: number; entries: AuditRecord[] }> {
    const { action, userId, limit, offset } = filter;
    const [count, page] = await this.rls.systemBatch(
      project.database,
      'only the service-role key reads the audit trail',
      [
        { text: `select count(*)::int as total from auth.audit_log ${WHERE}`, values: [action, userId] },
        {
          text: `select ${AUDIT_COLUMNS} from auth.audit_log ${WHERE} order by id desc limit $3 offset $4`,
          values: [action, userId, limit, offset],
          maxBytes: MAX_PAGE_BYTES,
        },
      ],
    );
    const total = new RecordReader('auth.audit_log', count?.rows[0] ?? {});
    return {
      total: total.integer('total', 0, Number.MAX_SAFE_INTEGER),
      entries: (page?.rows ?? []).map(toAuditRecord),
    };
  }
}

/** Limits in characters. */
const MAX_WORD = 200;
const MAX_ORIGIN_TEXT = 1_000;
const MAX_DETAILS = 10_000;

const AUDIT_COLUMNS =
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
