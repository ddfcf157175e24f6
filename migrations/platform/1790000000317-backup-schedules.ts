/** When backups are made, and how each of them ended. */
import { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = `
  create table backup_schedules (
    -- Null: of the install.
    project_id text references projects on delete cascade,
    cron text not null,
    time_zone text not null,
    keep integer not null check (keep > 0),
    enabled boolean not null,
    -- Times before it are not made up for.
    updated_at timestamptz not null default now()
  );
  create unique index backup_schedules_project on backup_schedules (coalesce(project_id, ''));

  create table backup_runs (
    id uuid primary key,
    -- A project, or 'platform'. No foreign key: archives outlive their project.
    subject text not null,
    slug text not null,
    -- The time of the schedule, or of the request, that this run is for.
    due_at timestamptz not null,
    started_at timestamptz not null,
    finished_at timestamptz,
    status text not null check (status in ('running', 'succeeded', 'failed')),
    -- Place and name of the archive.
    destination text not null,
    archive text not null,
    bytes bigint,
    error text,
    -- When the archive was removed because newer ones exist.
    removed_at timestamptz
  );
  create index backup_runs_subject on backup_runs (subject, started_at desc);
  create unique index backup_runs_running on backup_runs (subject) where status = 'running';
`;

export class BackupSchedules1790000000317 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table backup_runs, backup_schedules;');
  }
}
