/** Physical backups of the install by schedule. */
import { MigrationInterface, QueryRunner } from 'typeorm';

const UP = `
  -- True: of physical backups of the install.
  alter table backup_schedules add column physical boolean not null default false,
    add constraint backup_schedules_physical check (not physical or project_id is null);
  drop index backup_schedules_project;
  create unique index backup_schedules_subject on backup_schedules (coalesce(project_id, ''), physical);
  -- Of a physical backup: the oldest file of the write-ahead log that its recovery needs.
  alter table backup_runs add column first_wal_file text;
`;

const DOWN = `
  alter table backup_runs drop column first_wal_file;
  delete from backup_schedules where physical;
  drop index backup_schedules_subject;
  alter table backup_schedules drop column physical;
  create unique index backup_schedules_project on backup_schedules (coalesce(project_id, ''));
`;

export class PhysicalBackupSchedules1790000000540 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(DOWN);
  }
}
