/** SQL that people save under a name, for themselves or for all who may run SQL in the project. */
import { MigrationInterface, QueryRunner } from 'typeorm';

const TABLE = `
  create table saved_queries (
    id uuid primary key default gen_random_uuid(),
    project_id text not null references projects on delete cascade,
    -- Null: saved with PLATFORM_ADMIN_KEY.
    person_id uuid references staff_people on delete cascade,
    name text not null,
    sql text not null,
    shared boolean not null,
    created_at timestamptz not null,
    updated_at timestamptz not null
  );
  create unique index saved_queries_name on saved_queries (project_id, coalesce(person_id::text, ''), name);
  create index saved_queries_person on saved_queries (person_id);
`;

export class SavedQueries1790000000441 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table saved_queries');
  }
}
