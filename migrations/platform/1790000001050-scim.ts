/** Directories that provision people by SCIM 2.0: those of the installation (no project), and users of projects. */
import { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = `
  create table scim_tokens (
    project_id text references projects on delete cascade,
    token_hash bytea not null unique,
    created_at timestamptz not null
  );
  create unique index scim_tokens_scope on scim_tokens (coalesce(project_id, ''));

  create table scim_people (
    project_id text references projects on delete cascade,
    person_id uuid not null,
    external_id text,
    -- The directory has deactivated the account. An account that somebody else has disabled stays disabled.
    is_deactivated boolean not null
  );
  create unique index scim_people_person on scim_people (coalesce(project_id, ''), person_id);
  create index scim_people_external on scim_people (external_id);
`;

export class Scim1790000001050 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table scim_people, scim_tokens');
  }
}
