/** What an incremental backup has in the store next to its archive. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class StoredFiles1790000001127 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table backup_runs add column stored jsonb');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table backup_runs drop column stored');
  }
}
