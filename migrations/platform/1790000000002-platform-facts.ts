/** What the install remembers about itself, such as that its first start is over. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class PlatformFacts1790000000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table platform_facts (
        name text primary key,
        at timestamptz not null default now()
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table platform_facts');
  }
}
