/** Servers for projects' databases in the platform database. */
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { type AuditEntry, AuditLogRepository } from '../install/audit/audit-log.repository';
import { INSTALL_CHANNEL } from '../install/message-bus.service';

export type ServerStatus = 'open' | 'draining';

export interface ServerRow {
  readonly name: string;
  /** Encrypted; null for the server of the platform database. */
  readonly url: Buffer | null;
  readonly status: ServerStatus;
  readonly capacity: number;
  /** `host` or `host:port` of each replica. */
  readonly replicas: readonly string[];
  /** `host` or `host:port` of a PgBouncer in transaction mode. */
  readonly pooler: string | null;
  /** Number of projects in any status whose database is on the server. */
  readonly projects: number;
  readonly createdAt: Date;
}

/** Columns that the database sets. */
type OwnColumn = 'projects' | 'createdAt';

export interface ServerChange {
  readonly status?: ServerStatus;
  readonly capacity?: number;
  readonly replicas?: readonly string[];
  readonly pooler?: string | null;
}

const ROWS = `select s.name, s.url, s.status, s.capacity, s.replicas, s.pooler, s.created_at as "createdAt",
    (select count(*)::int from projects p where p.server = s.name) as projects
  from database_servers s`;

@Injectable()
export class ServerRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly audit: AuditLogRepository,
  ) {}

  /** Sorted by name, after the platform's server. */
  async list(): Promise<ServerRow[]> {
    return this.dataSource.query<ServerRow[]>(`${ROWS} order by s.url is not null, s.name`);
  }

  async find(name: string): Promise<ServerRow | null> {
    const [row] = await this.dataSource.query<ServerRow[]>(`${ROWS} where s.name = $1`, [name]);
    return row ?? null;
  }

  /** The open server with the largest share of free places; null if none has a free place. */
  async findRoomiest(): Promise<ServerRow | null> {
    const [row] = await this.dataSource.query<ServerRow[]>(
      `select * from (${ROWS}) s where status = 'open' and projects < capacity
       order by projects::float8 / capacity, name limit 1`,
    );
    return row ?? null;
  }

  /** @returns false if the name is taken */
  async insert(
    { name, url, capacity, replicas, pooler, status }: Omit<ServerRow, 'url' | OwnColumn> & { url: Buffer },
    entry: AuditEntry,
  ): Promise<boolean> {
    return this.change(entry, async (manager) => {
      const rows = await manager.query<unknown[]>(
        `insert into database_servers (name, url, capacity, status, replicas, pooler) values ($1, $2, $3, $4, $5, $6)
         on conflict do nothing returning name`,
        [name, url, capacity, status, replicas, pooler],
      );
      return rows.length === 1;
    });
  }

  async updateServer(
    name: string,
    { status, capacity, replicas, pooler }: ServerChange,
    entry: AuditEntry,
  ): Promise<void> {
    await this.change(entry, async (manager) => {
      await manager.query(
        `update database_servers set status = coalesce($2, status), capacity = coalesce($3, capacity),
           replicas = coalesce($4, replicas), pooler = case when $5 then $6 else pooler end where name = $1`,
        [name, status ?? null, capacity ?? null, replicas ?? null, pooler !== undefined, pooler ?? null],
      );
      return true;
    });
  }

  /**
   * Changes the URL of a server and of its projects in one transaction; every process reads these projects again.
   * @param sealFor encrypts the URL for a project
   */
  async setUrl(
    name: string,
    url: Buffer,
    sealFor: (projectId: string) => Buffer,
    entry: AuditEntry,
  ): Promise<void> {
    await this.change(entry, async (manager) => {
      await manager.query('update database_servers set url = $2 where name = $1', [name, url]);
      const projects = await manager.query<{ id: string }[]>(
        'select id from projects where server = $1 order by id for update',
        [name],
      );
      for (const { id } of projects) {
        await manager.query('update projects set server_url = $2 where id = $1', [id, sealFor(id)]);
        await manager.query('select pg_notify($1, $2)', [INSTALL_CHANNEL, id]);
      }
      return true;
    });
  }

  /** @returns false while the server has projects, or projects are being moved to it or from it */
  async remove(name: string, entry: AuditEntry): Promise<boolean> {
    return this.change(entry, async (manager) => {
      // Waits for creations of projects, whose foreign key locks the row.
      await manager.query('select from database_servers where name = $1 for update', [name]);
      const [, removed] = await manager.query<[unknown, number]>(
        `delete from database_servers s where name = $1
           and not exists (select from projects p where p.server = s.name)
           and not exists (select from project_moves m where m.status in ('running', 'undoing', 'switched')
             and s.name in (m.source_server, m.target_server))`,
        [name],
      );
      return removed === 1;
    });
  }

  /** @param work returns false if it changed nothing, so nothing is recorded */
  private async change(
    entry: AuditEntry,
    work: (manager: EntityManager) => Promise<boolean>,
  ): Promise<boolean> {
    return this.dataSource.transaction(async (manager) => {
      const isChanged = await work(manager);
      if (isChanged) await this.audit.write(entry, manager);
      return isChanged;
    });
  }
}
