/** The secret from which a restored project's keys are derived, so that its sessions and factors outlive a move. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class ProjectDataSecret1790000000217 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Encrypted; null: derived from MASTER_KEY.
    await runner.query('alter table projects add column data_secret bytea');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table projects drop column data_secret');
  }
}
