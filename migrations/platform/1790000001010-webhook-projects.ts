/** Projects with webhooks: which process delivers for each, and what waited when it last counted. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class WebhookProjects1790000001010 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table webhook_projects (
        project_id text primary key references projects on delete cascade,
        -- When it may have got its first webhook.
        touched_at timestamptz not null default now(),
        -- One process at a time delivers for a project; another takes over when it has not renewed its lease.
        leased_by uuid,
        leased_until timestamptz,
        waiting integer not null default 0,
        failed integer not null default 0,
        oldest_at timestamptz
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table webhook_projects');
  }
}
