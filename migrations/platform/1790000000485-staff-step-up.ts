/** When the person of a session last proved to be that person. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class StaffStepUp1790000000485 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Null: at the sign-in.
    await runner.query('alter table staff_sessions add column confirmed_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table staff_sessions drop column confirmed_at');
  }
}
