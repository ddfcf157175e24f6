/** The audit log of the platform. An entry is written in the transaction of the change that it records. */
import { Injectable } from '@nestjs/common';
import { DataSource, EntityManager } from 'typeorm';
import { JsonObject } from '../common/text/json';

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
  /** Never a secret. */
  readonly details?: JsonObject;
}

export interface AuditRecord {
  readonly id: string;
  readonly at: Date;
  readonly actor: string;
  readonly action: string;
  readonly project_id: string | null;
  readonly address: string | null;
  readonly details: JsonObject;
}

export interface AuditQuery {
  readonly projectId?: string;
  readonly action?: string;
  readonly limit: number;
  /** Entries older than the one of this id. */
  readonly before?: string;
}

@Injectable()
export class AuditLogRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** @param manager of the transaction that makes the change; without one the entry has a transaction of its own */
  async write(entry: AuditEntry, manager: EntityManager = this.dataSource.manager): Promise<void> {
    const { actor, action, projectId, details = {} } = entry;
    await manager.query(
      'insert into audit_log (actor, action, project_id, address, details) values ($1, $2, $3, $4, $5)',
      [actor.name, action, projectId, actor.address, JSON.stringify(details)],
    );
  }

  /** Newest first. */
  async list({ projectId, action, limit, before }: AuditQuery): Promise<AuditRecord[]> {
    return this.dataSource.query<AuditRecord[]>(
      `select id, at, actor, action, project_id, address, details from audit_log
       where ($1::text is null or project_id = $1) and ($2::text is null or action = $2)
         and ($3::bigint is null or id < $3)
       order by id desc limit $4`,
      [projectId ?? null, action ?? null, before ?? null, limit],
    );
  }
}
