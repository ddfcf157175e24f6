/** The named keys of projects, and when they and the S3 keys were last used. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class ApiKeys1790000001030 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Encrypted under MASTER_KEY. Null: none.
    await runner.query('alter table projects add column api_keys bytea');
    await runner.query(`
      create table key_uses (
        project_id text not null references projects on delete cascade,
        key_id text not null,
        last_used_at timestamptz not null,
        primary key (project_id, key_id)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table key_uses');
    await runner.query('alter table projects drop column api_keys');
  }
}
