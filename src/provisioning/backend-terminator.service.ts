/** Ends sessions of projects that harm others; logs it and counts it in plinth_database_sessions_ended_total. */
import { Injectable, Logger } from '@nestjs/common';
import type { Client } from 'pg';
import type { Counter } from 'prom-client';
import { Metrics } from '../infra/metrics/metrics';

/** The reason for ending a session: the label of the metric. */
const REASONS = {
  lock: 'its open transaction blocked the administration of another project',
  stalled_client: 'its client neither read nor sent, which blocked the deletion of a project',
  too_many_locks: 'its database held a large part of the lock table of the server',
  notify_queue: 'its transaction kept the notification queue of the server from being emptied',
  old_transactions: 'it kept the server from reusing transaction ids, without which no project can write',
} as const;

export type EndReason = keyof typeof REASONS;

export interface ProjectSession {
  readonly pid: number;
  /** Null while the client has not logged in. */
  readonly database: string | null;
}

/**
 * Sessions in databases of projects, for a FROM clause: never those of a superuser, of Plinth's administration, or of
 * another application on the server. `starting` are clients that have not logged in (PostgreSQL 18 and later).
 */
export const PROJECT_SESSIONS = `(
  select a.*, a.datid is null as starting
  from pg_catalog.pg_stat_activity a
    left join pg_catalog.pg_roles r on r.oid = a.usesysid
    left join pg_catalog.pg_database d on d.oid = a.datid
    left join pg_catalog.pg_roles o on o.oid = d.datdba
  where a.backend_type = 'client backend' and a.pid <> pg_catalog.pg_backend_pid()
    and (a.datid is null and a.state = 'starting'
         or not r.rolsuper and d.datname ~ '^plinth_[0-9a-z]+$' and o.rolname = d.datname || '_owner'))`;

@Injectable()
export class BackendTerminator {
  private readonly logger = new Logger(BackendTerminator.name);
  private readonly ended: Counter<'reason'>;

  constructor(metrics: Metrics) {
    this.ended = metrics.counter(
      'plinth_database_sessions_ended_total',
      'Sessions of projects that were ended because they harmed others, by reason',
      'reason',
    );
  }

  /** @param admin a connection of the admin role; rejects if that role may not end the session */
  async end(admin: Client, { pid, database }: ProjectSession, reason: EndReason): Promise<void> {
    const { rows } = await admin.query<{ ended: boolean }>({
      name: 'end',
      text: 'select pg_terminate_backend($1) as ended',
      values: [pid],
    });
    if (!rows[0]?.ended) return;
    this.ended.inc({ reason });
    const of = database === null ? 'a client that has not logged in' : `the database ${database}`;
    this.logger.warn(`ended session ${pid} of ${of}: ${REASONS[reason]}`);
  }
}
