/** When the queue of a project's webhooks was full, so that deliveries were skipped. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class WebhookSkips1790000001071 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table webhook_projects add column skipped_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table webhook_projects drop column skipped_at');
  }
}
