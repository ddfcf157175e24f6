/** Saved queries in the platform database. A staff member sees their own queries and the shared queries of a project. */
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { refusingDuplicate } from '../../database/sql/sqlstate';
import { type Actor, AuditLogRepository } from '../../install/audit/audit-log.repository';
import { savedQueryExists, tooManySavedQueries } from '../sql.errors';

/** Maximum number of queries that a staff member may save in a project. */
export const MAX_SAVED = 500;
/** Maximum number of queries in a list: the staff member's own queries, and shared queries. */
const MAX_LISTED = 2_000;

export interface SavedQueryRow {
  readonly id: string;
  readonly name: string;
  readonly sql: string;
  readonly shared: boolean;
  readonly mine: boolean;
  /** Name of the staff member; null if the query was saved with PLATFORM_ADMIN_KEY. */
  readonly author: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export interface SavedQueryContent {
  readonly name: string;
  readonly sql: string;
  readonly shared: boolean;
}

/** The author of queries; null stands for PLATFORM_ADMIN_KEY. */
export interface QueryOwner {
  readonly projectId: string;
  readonly memberId: string | null;
  readonly actor: Actor;
}

const COLUMNS = `q.id, q.name, q.sql, q.shared, q.person_id is not distinct from $2::uuid as mine,
  (select p.name from staff_people p where p.id = q.person_id) as author, q.created_at, q.updated_at`;

@Injectable()
export class SavedQueryRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly audit: AuditLogRepository,
  ) {}

  /** Sorted by name. */
  list({ projectId, memberId }: Omit<QueryOwner, 'actor'>): Promise<SavedQueryRow[]> {
    return this.dataSource.query<SavedQueryRow[]>(
      `select ${COLUMNS} from saved_queries q
       where q.project_id = $1 and (q.shared or q.person_id is not distinct from $2::uuid)
       order by lower(q.name), q.name, q.id limit ${MAX_LISTED}`,
      [projectId, memberId],
    );
  }

  /** @throws AppError 409 if the name is taken, or the staff member has saved too many queries */
  async insert(
    owner: QueryOwner,
    { name, sql, shared }: SavedQueryContent,
    now: Date,
  ): Promise<SavedQueryRow> {
    const [row] = await this.change(owner, 'project.query.create', name, (manager) =>
      manager.query<SavedQueryRow[]>(
        `with q as (
           insert into saved_queries (project_id, person_id, name, sql, shared, created_at, updated_at)
           select $1, $2::uuid, $3, $4, $5, $6, $6
           where (select count(*) from saved_queries o
                  where o.project_id = $1 and o.person_id is not distinct from $2::uuid) < ${MAX_SAVED}
           returning *)
         select ${COLUMNS} from q`,
        [owner.projectId, owner.memberId, name, sql, shared, now],
      ),
    );
    if (!row) throw tooManySavedQueries(MAX_SAVED);
    return row;
  }

  /** Changes a query of the staff member. @returns null if there is none @throws AppError 409 if the name is taken */
  async updateQuery(
    owner: QueryOwner,
    id: string,
    {
      name = null,
      sql = null,
      shared = null,
    }: { [Name in keyof SavedQueryContent]?: SavedQueryContent[Name] | null },
    now: Date,
  ): Promise<SavedQueryRow | null> {
    const [row] = await this.change(owner, 'project.query.update', name ?? '', (manager) =>
      manager.query<SavedQueryRow[]>(
        `with q as (
           update saved_queries set name = coalesce($4, name), sql = coalesce($5, sql),
             shared = coalesce($6, shared), updated_at = $7
           where project_id = $1 and person_id is not distinct from $2::uuid and id = $3
           returning *)
         select ${COLUMNS} from q`,
        [owner.projectId, owner.memberId, id, name, sql, shared, now],
      ),
    );
    return row ?? null;
  }

  /** @param any whether shared queries of other staff members may be removed @returns false if there is none */
  async remove(owner: QueryOwner, id: string, any: boolean): Promise<boolean> {
    const rows = await this.change(owner, 'project.query.delete', '', (manager) =>
      manager.query<{ id: string; name: string }[]>(
        `with q as (
           delete from saved_queries
           where project_id = $1 and id = $3 and (person_id is not distinct from $2::uuid or ($4 and shared))
           returning id, name)
         select id, name from q`,
        [owner.projectId, owner.memberId, id, any],
      ),
    );
    return rows.length > 0;
  }

  /** Runs a change and writes its entry of the audit log if the change found a row. */
  private async change<Row extends { readonly id: string; readonly name: string }>(
    { actor, projectId }: QueryOwner,
    action: string,
    wanted: string,
    work: (manager: EntityManager) => Promise<Row[]>,
  ): Promise<Row[]> {
    const changed = this.dataSource.transaction(async (manager) => {
      const rows = await work(manager);
      for (const { id, name } of rows)
        await this.audit.write({ action, actor, projectId, details: { id, name } }, manager);
      return rows;
    });
    return refusingDuplicate(changed, () => savedQueryExists(wanted));
  }
}
