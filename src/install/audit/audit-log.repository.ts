/**
 * The audit log of the platform. An entry is written in the transaction of the change that it records. The database links it
 * into the chain of hashes when that transaction commits.
 */
import { Injectable } from '@nestjs/common';
import { DataSource, EntityManager } from 'typeorm';
import { JsonObject } from '../../common/text/json';

/** The author of a change. */
export interface Actor {
  readonly name: string;
  /** Client address; null for Plinth itself. */
  readonly address: string | null;
}

/** Changes by Plinth itself: the demo project, recovery after a crash. */
export const PLINTH: Actor = Object.freeze({ name: 'plinth', address: null });

export interface AuditEntry {
  readonly actor: Actor;
  /** `project.create`, `project.keys.rotate`. */
  readonly action: string;
  readonly projectId: string | null;
  /** Never contains a secret. */
  readonly details?: JsonObject;
}

export interface AuditRecord {
  readonly id: string;
  /** UTC with microseconds, as in the hashed text. */
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly project_id: string | null;
  readonly address: string | null;
  readonly details: JsonObject;
  /** Position in the chain; null for a record that was written bypassing it. */
  readonly position: number | null;
  readonly previous_hash: string | null;
  readonly hash: string | null;
}

export interface AuditFilter {
  readonly projectId?: string;
  readonly action?: string;
  readonly actor?: string;
  /** RFC 3339; records of this time or later. */
  readonly since?: string;
  /** RFC 3339; records before this time. */
  readonly until?: string;
}

export interface AuditQuery extends AuditFilter {
  readonly limit: number;
  /** Only entries older than the entry with this id. */
  readonly before?: string;
}

/** The time of a record as in the hashed text. */
export const HASHED_TIME = `to_char(l.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

const RECORDS = `select l.id, ${HASHED_TIME} as at, l.actor, l.action, l.project_id, l.address, l.details,
    c.position::float8 as position, c.previous_hash, c.hash
  from audit_log l left join audit_chain c on c.record_id = l.id`;

/** The parameters $1 to $5 are those of valuesOf(). */
const MATCHING = `($1::text is null or l.project_id = $1) and ($2::text is null or l.action = $2)
  and ($3::text is null or l.actor = $3) and ($4::timestamptz is null or l.at >= $4)
  and ($5::timestamptz is null or l.at < $5)`;

@Injectable()
export class AuditLogRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** @param manager the manager of the transaction that makes the change; without it, the entry has its own transaction */
  async write(entry: AuditEntry, manager: EntityManager = this.dataSource.manager): Promise<void> {
    const { actor, action, projectId, details = {} } = entry;
    await manager.query(
      'insert into audit_log (actor, action, project_id, address, details) values ($1, $2, $3, $4, $5)',
      [actor.name, action, projectId, actor.address, JSON.stringify(details)],
    );
  }

  /** Newest first. */
  async list({ limit, before, ...filter }: AuditQuery): Promise<AuditRecord[]> {
    return this.dataSource.query<AuditRecord[]>(
      `${RECORDS} where ${MATCHING} and ($6::bigint is null or l.id < $6) order by l.id desc limit $7`,
      [...valuesOf(filter), before ?? null, limit],
    );
  }

  /** Oldest first, starting after the entry with the id `after`. */
  async listAfter(after: string, limit: number, filter: AuditFilter): Promise<AuditRecord[]> {
    return this.dataSource.query<AuditRecord[]>(
      `${RECORDS} where ${MATCHING} and l.id > $6 order by l.id limit $7`,
      [...valuesOf(filter), after, limit],
    );
  }
}

function valuesOf({ projectId, action, actor, since, until }: AuditFilter): (string | null)[] {
  return [projectId, action, actor, since, until].map((value) => value ?? null);
}
