/** The schedule and the last backups of every project and of the platform, in one query. */
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { BackupSchedule } from './schedule';
import type { Rehearsal } from '../rehearsal/rehearsal.repository';
import { PHYSICAL, PLATFORM, RunStatus } from './run.repository';

export interface RunFacts {
  readonly dueAt: Date;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  readonly status: RunStatus;
  readonly bytes: string | null;
  readonly error: string | null;
}

export interface SubjectRow {
  /** Id of a project, PLATFORM or PHYSICAL. */
  readonly subject: string;
  readonly slug: string;
  /** The subject's own schedule, or else the install's. */
  readonly schedule: BackupSchedule | null;
  /** Milliseconds since the epoch: earlier times of the schedule are ignored. */
  readonly since: number;
  readonly lastRun: RunFacts | null;
  readonly lastSuccess: RunFacts | null;
  /** The last run. */
  readonly rehearsal: Rehearsal | null;
  /** Failed runs in a row since the last success. */
  readonly failures: number;
}

interface Row {
  readonly subject: string;
  readonly slug: string;
  readonly created_at: Date;
  readonly cron: string | null;
  readonly time_zone: string;
  readonly keep: number;
  readonly enabled: boolean;
  readonly rehearse_days: number | null;
  readonly updated_at: Date;
  readonly schedule_of: string | null;
  readonly last_run: StoredRun | null;
  readonly last_success: StoredRun | null;
  readonly rehearsal: StoredRehearsal | null;
  readonly failures: number;
}

interface StoredRehearsal {
  readonly archive: string;
  readonly started_at: string;
  readonly finished_at: string | null;
  readonly error: string | null;
  readonly rows: number | null;
  readonly files: number | null;
  readonly last_good_at: string | null;
}

interface StoredRun {
  readonly due_at: string;
  readonly started_at: string;
  readonly finished_at: string | null;
  readonly status: RunStatus;
  readonly bytes: number | null;
  readonly error: string | null;
}

const SUBJECTS = `
  with subjects as (
    select '${PLATFORM}' as subject, '${PLATFORM}' as slug, null as project_id, to_timestamp(0) as created_at
    union all select '${PHYSICAL}', '${PHYSICAL}', null, to_timestamp(0)
      where exists (select from backup_schedules where physical)
        or exists (select from backup_runs where subject = '${PHYSICAL}')
    union all select id, slug, id, created_at from projects where status = 'active')
  select s.subject, s.slug, s.created_at, schedule.cron, schedule.time_zone, schedule.keep, schedule.enabled,
    schedule.rehearse_days, schedule.updated_at, schedule.project_id as schedule_of, to_jsonb(last_run) as last_run, to_jsonb(success) as last_success, to_jsonb(rehearsal) as rehearsal,
    (select count(*)::int from backup_runs f where f.subject = s.subject and f.status = 'failed'
       and f.due_at = last_run.due_at and f.started_at > coalesce(success.started_at, '-infinity')) as failures
  from subjects s
    left join backup_rehearsals rehearsal on rehearsal.subject = s.subject
    left join lateral (
      select * from backup_schedules b
      where b.physical = (s.subject = '${PHYSICAL}') and (b.project_id = s.project_id or b.project_id is null)
      order by b.project_id nulls last limit 1) schedule on true
    left join lateral (
      select * from backup_runs r where r.subject = s.subject order by r.started_at desc limit 1) last_run on true
    left join lateral (
      select * from backup_runs r where r.subject = s.subject and r.status = 'succeeded'
      order by r.started_at desc limit 1) success on true
  order by s.project_id is not null, s.slug`;

@Injectable()
export class BackupStateRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** The platform first, then the projects by slug. */
  async list(): Promise<SubjectRow[]> {
    return (await this.dataSource.query<Row[]>(SUBJECTS)).map(toSubject);
  }
}

function toSubject(row: Row): SubjectRow {
  const schedule =
    row.cron === null
      ? null
      : {
          projectId: row.schedule_of,
          physical: row.subject === PHYSICAL,
          cron: row.cron,
          timeZone: row.time_zone,
          keep: row.keep,
          enabled: row.enabled,
          rehearseDays: row.rehearse_days,
        };
  return {
    subject: row.subject,
    slug: row.slug,
    schedule,
    since: Math.max(row.created_at.getTime(), row.cron === null ? 0 : row.updated_at.getTime()),
    lastRun: toFacts(row.last_run),
    lastSuccess: toFacts(row.last_success),
    rehearsal: toRehearsal(row.rehearsal),
    failures: row.failures,
  };
}

function toFacts(run: StoredRun | null): RunFacts | null {
  return (
    run && {
      dueAt: new Date(run.due_at),
      startedAt: new Date(run.started_at),
      finishedAt: toDate(run.finished_at),
      status: run.status,
      bytes: run.bytes === null ? null : String(run.bytes),
      error: run.error,
    }
  );
}

function toRehearsal(stored: StoredRehearsal | null): Rehearsal | null {
  if (stored === null) return null;
  const { archive, error, rows, files } = stored;
  const [finishedAt, lastGoodAt] = [toDate(stored.finished_at), toDate(stored.last_good_at)];
  return { archive, startedAt: new Date(stored.started_at), finishedAt, error, rows, files, lastGoodAt };
}

const toDate = (text: string | null): Date | null => (text === null ? null : new Date(text));
