/** When a project was paused. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class ProjectPause1790000000440 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table projects add column paused_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table projects drop column paused_at');
  }
}
