/** Rehearsals of restores: how often they are made, and the last one of each project. */
import { MigrationInterface, QueryRunner } from 'typeorm';

const UP = `
  -- Days between two rehearsals; null: none.
  alter table backup_schedules add column rehearse_days integer check (rehearse_days > 0);
  create table backup_rehearsals (
    -- A project, or 'platform'.
    subject text primary key,
    archive text not null,
    started_at timestamptz not null,
    -- Null: it is being made, or its process ended.
    finished_at timestamptz,
    error text,
    rows bigint,
    files bigint,
    -- Start of the last one without an error.
    last_good_at timestamptz
  );
`;

export class BackupRehearsals1790000000530 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `drop table backup_rehearsals; alter table backup_schedules drop column rehearse_days`,
    );
  }
}
