/** Pieces of advice about projects that administrators have dismissed. */
import { MigrationInterface, QueryRunner } from 'typeorm';

const TABLE = `
  create table advice_dismissals (
    project_id text not null references projects on delete cascade,
    advice_id text not null,
    at timestamptz not null default now(),
    actor text not null,
    primary key (project_id, advice_id)
  );
`;

export class AdviceDismissals1790000000342 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table advice_dismissals');
  }
}
