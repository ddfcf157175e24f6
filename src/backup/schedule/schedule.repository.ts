/** Schedules of backups in the platform database. */
import { Injectable } from '@nestjs/common';
import { DataSource, EntityManager } from 'typeorm';
import { AuditEntry, AuditLogRepository } from '../../install/audit/audit-log.repository';
import { BackupSchedule } from './schedule';

const COLUMNS = `project_id as "projectId", physical, cron, time_zone as "timeZone", keep, enabled, rehearse_days as "rehearseDays"`;
const INSERT = `insert into backup_schedules (project_id, cron, time_zone, keep, enabled, updated_at, rehearse_days, physical)
  values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (coalesce(project_id, ''), physical)`;

@Injectable()
export class ScheduleRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly audit: AuditLogRepository,
  ) {}

  async list(): Promise<BackupSchedule[]> {
    return this.dataSource.query<BackupSchedule[]>(
      `select ${COLUMNS} from backup_schedules order by project_id nulls first, physical`,
    );
  }

  /** @param now milliseconds since the epoch */
  async set(schedule: BackupSchedule, now: number, entry: AuditEntry): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await manager.query(
        `${INSERT} do update set cron = excluded.cron, time_zone = excluded.time_zone, keep = excluded.keep,
           enabled = excluded.enabled, updated_at = excluded.updated_at, rehearse_days = excluded.rehearse_days`,
        valuesOf(schedule, now),
      );
      await this.audit.write(entry, manager);
    });
  }

  /** @returns false if there is none */
  async remove(projectId: string | null, physical: boolean, entry: AuditEntry): Promise<boolean> {
    return this.dataSource.transaction(async (manager) => {
      const sql = `delete from backup_schedules where coalesce(project_id, '') = coalesce($1, '')
        and physical = $2 returning 1`;
      const [removed] = await manager.query<[unknown[], number]>(sql, [projectId, physical]);
      if (removed.length > 0) await this.audit.write(entry, manager);
      return removed.length > 0;
    });
  }

  /**
   * Adds schedules of a restored install. Schedules of projects that do not exist, or that have a schedule, are left out.
   * @param now milliseconds since the epoch
   * @returns how many were added
   */
  async addMissing(schedules: readonly BackupSchedule[], now: number): Promise<number> {
    return this.dataSource.transaction(async (manager) => {
      let added = 0;
      for (const schedule of schedules) if (await addMissing(manager, schedule, now)) added += 1;
      return added;
    });
  }
}

async function addMissing(manager: EntityManager, schedule: BackupSchedule, now: number): Promise<boolean> {
  const { projectId } = schedule;
  if (projectId !== null) {
    const sql = `select from projects where id = $1 and status = 'active' for key share`;
    if ((await manager.query<unknown[]>(sql, [projectId])).length === 0) return false;
  }
  const rows = await manager.query<unknown[]>(`${INSERT} do nothing returning 1`, valuesOf(schedule, now));
  return rows.length > 0;
}

function valuesOf(schedule: BackupSchedule, now: number): unknown[] {
  const { projectId, physical, cron, timeZone, keep, enabled, rehearseDays } = schedule;
  return [projectId, cron, timeZone, keep, enabled, new Date(now), rehearseDays, physical];
}
