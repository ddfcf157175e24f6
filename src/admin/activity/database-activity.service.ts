/**
 * Sessions, locks and statements of one project's database. They are read in the server's maintenance database, where no
 * code of an owner runs, and only those of the project's database are selected.
 */
import { Injectable } from '@nestjs/common';
import type { Client } from 'pg';
import { OwnerDatabase } from '../../projects/owner-database';
import { ProjectEntity } from '../../projects/project.entity';
import { ProjectsService } from '../../projects/projects.service';
import { MAINTENANCE_DATABASE } from '../../provisioning/database-server';
import { sessionNotFound } from '../admin.errors';
import { DatabaseActivity, LockRow, SessionRow } from './database-activity';

const TIMEOUT_MS = 5_000;
/** Maximum number of sessions, and of locks, in a response. */
const MAX_ROWS = 500;
const MAX_CHARACTERS = 1_000;

/** Sessions of clients in the database $1, but never those of a superuser: Plinth's own administration. */
const SESSIONS = `pg_catalog.pg_stat_activity a
  join pg_catalog.pg_roles r on r.oid = a.usesysid and not r.rolsuper
  where a.datname = $1 and a.backend_type = 'client backend' and a.pid <> pg_catalog.pg_backend_pid()`;

const age = (column: string): string =>
  `greatest(0, round(extract(epoch from clock_timestamp() - ${column})::numeric, 3))::float8`;

const LIST_SESSIONS = `select a.pid, a.usename as role, coalesce(a.application_name, '') as application,
    host(a.client_addr) as address, a.state,
    nullif(concat_ws(': ', a.wait_event_type, a.wait_event), '') as waits_for,
    case when a.wait_event_type = 'Lock' then array(select b.pid from pg_catalog.pg_stat_activity b
      where b.pid = any (pg_blocking_pids(a.pid)) and b.datid = a.datid order by 1) else '{}' end as blocked_by,
    ${age('a.backend_start')} as connected_seconds, ${age('a.xact_start')} as transaction_seconds,
    ${age('a.query_start')} as query_seconds, nullif(left(a.query, ${MAX_CHARACTERS}), '') as query
  from ${SESSIONS} order by a.state is distinct from 'idle' desc, a.xact_start, a.pid limit ${MAX_ROWS + 1}`;

const LIST_LOCKS = `select l.pid, l.locktype as type, l.mode, l.granted, l.relation::text as relation_id
  from pg_catalog.pg_locks l join pg_catalog.pg_database d on d.oid = l.database
  where d.datname = $1 and l.pid in (select a.pid from ${SESSIONS})
  order by l.granted, l.pid, l.relation limit ${MAX_ROWS + 1}`;

const NAMES = `select c.oid::text as id, n.nspname as schema, c.relname as relation
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.oid = any ($1::oid[])`;

interface RelationName {
  readonly id: string;
  readonly schema: string;
  readonly relation: string;
}

export type Signal = 'cancel' | 'terminate';

@Injectable()
export class DatabaseActivityService {
  constructor(
    private readonly projects: ProjectsService,
    private readonly owner: OwnerDatabase,
  ) {}

  async read(project: ProjectEntity): Promise<DatabaseActivity> {
    const [sessions, locks] = await this.asAdmin(project, async (admin) => [
      (await admin.query<SessionRow>(LIST_SESSIONS, [project.databaseName])).rows,
      (await admin.query<LockRow>(LIST_LOCKS, [project.databaseName])).rows,
    ]);
    const names = await this.namesOf(project, locks);
    return {
      sessions: sessions.slice(0, MAX_ROWS),
      locks: locks.slice(0, MAX_ROWS).map(({ relation_id: id, ...lock }) => {
        const name = id === null ? undefined : names.get(id);
        return { ...lock, schema: name?.schema ?? null, relation: name?.relation ?? null };
      }),
      truncated: sessions.length > MAX_ROWS || locks.length > MAX_ROWS,
    };
  }

  /**
   * Cancels the statement of a session, or ends the session.
   * @throws AppError 404 if the project's database has no such session
   */
  async signal(project: ProjectEntity, pid: number, signal: Signal): Promise<boolean> {
    const call = signal === 'cancel' ? 'pg_cancel_backend' : 'pg_terminate_backend';
    const rows = await this.asAdmin(
      project,
      async (admin) =>
        (
          await admin.query<{ done: boolean }>(
            `select pg_catalog.${call}(a.pid) as done from ${SESSIONS} and a.pid = $2`,
            [project.databaseName, pid],
          )
        ).rows,
    );
    const [row] = rows;
    if (!row) throw sessionNotFound();
    return row.done;
  }

  private asAdmin<T>(project: ProjectEntity, work: (admin: Client) => Promise<T>): Promise<T> {
    return this.projects.serverOf(project).asAdmin(MAINTENANCE_DATABASE, async (admin) => {
      await admin.query(`set statement_timeout = ${TIMEOUT_MS}`);
      return work(admin);
    });
  }

  /** Empty if the owner cannot connect, as when all connections are taken: the locks are shown without names then. */
  private async namesOf(
    project: ProjectEntity,
    locks: readonly LockRow[],
  ): Promise<ReadonlyMap<string, RelationName>> {
    const ids = [...new Set(locks.flatMap(({ relation_id: id }) => (id === null ? [] : [id])))];
    if (ids.length === 0) return new Map();
    const settings = { statement_timeout: TIMEOUT_MS, connectionTimeoutMillis: TIMEOUT_MS };
    const rows = await this.owner
      .use(
        project,
        'the names of locked relations',
        async (client) => (await client.query<RelationName>(NAMES, [ids])).rows,
        settings,
      )
      .catch(() => []);
    return new Map(rows.map((row) => [row.id, row]));
  }
}
