/** Which projects have mails under way or given up, so that the recovery of lost mails need not open every database. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class MailOutboxes1790000000011 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table mail_outboxes (
        project_id text primary key references projects on delete cascade,
        -- Not earlier than a minute before the project's latest mail was written.
        touched_at timestamptz not null,
        -- Mails that were given up, as last counted.
        failed integer not null default 0
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table mail_outboxes');
  }
}
