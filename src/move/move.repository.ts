/** The last move of each project, in the platform database. */
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AuditLogRepository, type Actor } from '../install/audit/audit-log.repository';
import { INSTALL_CHANNEL } from '../install/message-bus.service';

export type MoveStatus = 'running' | 'undoing' | 'switched' | 'done' | 'failed';

export interface MoveRow {
  readonly projectId: string;
  /** Null for the project's own server (database_url). */
  readonly sourceServer: string | null;
  /** Encrypted; null for the server of the platform database. */
  readonly sourceUrl: Buffer | null;
  readonly targetServer: string;
  readonly status: MoveStatus;
  readonly step: string;
  readonly keep: boolean;
  readonly bytesCopied: number;
  readonly bytesTotal: number;
  readonly writesRefusedMs: number | null;
  readonly error: string | null;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
}

export type NewMove = Pick<
  MoveRow,
  'projectId' | 'sourceServer' | 'sourceUrl' | 'targetServer' | 'keep' | 'bytesTotal'
>;

/** The values that the switch writes into the project's row. */
export interface NewPlace {
  readonly server: string;
  readonly serverUrl: Buffer | null;
  readonly polled: boolean;
  readonly writesRefusedMs: number;
}

const ROWS = `select project_id as "projectId", source_server as "sourceServer", source_url as "sourceUrl",
    target_server as "targetServer", status, step, keep, bytes_copied::float8 as "bytesCopied",
    bytes_total::float8 as "bytesTotal", writes_refused_ms as "writesRefusedMs", error,
    started_at as "startedAt", finished_at as "finishedAt"
  from project_moves`;

@Injectable()
export class MoveRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly audit: AuditLogRepository,
  ) {}

  async find(projectId: string): Promise<MoveRow | null> {
    const [row] = await this.dataSource.query<MoveRow[]>(`${ROWS} where project_id = $1`, [projectId]);
    return row ?? null;
  }

  /** Ids of projects whose move is not finished. */
  async listUnfinished(): Promise<string[]> {
    const rows = await this.dataSource.query<{ id: string }[]>(
      `select project_id as id from project_moves where status in ('running', 'undoing', 'switched')`,
    );
    return rows.map(({ id }) => id);
  }

  /** Replaces the project's last move, which must be finished. */
  async begin(move: NewMove, actor: Actor): Promise<void> {
    const { projectId, sourceServer, sourceUrl, targetServer, keep, bytesTotal } = move;
    await this.dataSource.transaction(async (manager) => {
      await manager.query('delete from project_moves where project_id = $1', [projectId]);
      await manager.query(
        `insert into project_moves (project_id, source_server, source_url, target_server, status, step, keep, bytes_total)
         values ($1, $2, $3, $4, 'running', 'preparing', $5, $6)`,
        [projectId, sourceServer, sourceUrl, targetServer, keep, bytesTotal],
      );
      const details = { from: sourceServer, to: targetServer };
      await this.audit.write({ action: 'project.move.begin', actor, projectId, details }, manager);
    });
  }

  async report(projectId: string, step: string, bytesCopied: number): Promise<void> {
    await this.dataSource.query(
      `update project_moves set step = $2, bytes_copied = $3 where project_id = $1 and status = 'running'`,
      [projectId, step, bytesCopied],
    );
  }

  /**
   * The switch: the project is on the target from this commit on, and every process reads its row again.
   * @returns false if the move was given up in the meantime
   */
  async switch(projectId: string, place: NewPlace, actor: Actor): Promise<boolean> {
    const { server, serverUrl, polled, writesRefusedMs } = place;
    return this.dataSource.transaction(async (manager) => {
      const [, moved] = await manager.query<[unknown, number]>(
        `update project_moves set status = 'switched', step = 'cleaning up', writes_refused_ms = $2
         where project_id = $1 and status = 'running'`,
        [projectId, writesRefusedMs],
      );
      if (moved !== 1) return false;
      await manager.query('update projects set server = $2, server_url = $3, polled = $4 where id = $1', [
        projectId,
        server,
        serverUrl,
        polled,
      ]);
      await this.audit.write({ action: 'project.move', actor, projectId, details: { to: server } }, manager);
      await manager.query('select pg_notify($1, $2)', [INSTALL_CHANNEL, projectId]);
      return true;
    });
  }

  /** Makes every process read the project again, and no longer refuse its writes. */
  async finish(projectId: string, status: 'done' | 'failed', error: string | null = null): Promise<void> {
    await this.dataSource.query(
      `with finished as (
         update project_moves set status = $2, step = $2, error = coalesce(error, $3), finished_at = now()
         where project_id = $1 returning project_id)
       select pg_notify($4, project_id) from finished`,
      [projectId, status, error, INSTALL_CHANNEL],
    );
  }

  /** Refuses the switch, even to a process that still works on the move. */
  async giveUp(projectId: string): Promise<void> {
    await this.dataSource.query(
      `update project_moves set status = 'undoing', step = 'undoing' where project_id = $1 and status = 'running'`,
      [projectId],
    );
  }

  /** Records the reason of a failure before it is undone. */
  async fail(projectId: string, error: string): Promise<void> {
    await this.dataSource.query(
      `update project_moves set error = $2 where project_id = $1 and status = 'running'`,
      [projectId, error],
    );
  }
}
