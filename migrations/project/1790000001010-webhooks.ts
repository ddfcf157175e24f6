/** The schema of webhooks. Runs again without harm. */
import { MigrationInterface, QueryRunner } from 'typeorm';
import { WEBHOOKS } from './sql/webhooks';

export class Webhooks1790000001010 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(WEBHOOKS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema hooks cascade');
  }
}
