/** The schema of Realtime: messages that SQL sends, and what policies of private channels call. Runs again without harm. */
import { MigrationInterface, QueryRunner } from 'typeorm';
import { REALTIME } from './sql/realtime';

export class Realtime1790000000520 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(REALTIME);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop schema realtime cascade');
  }
}
