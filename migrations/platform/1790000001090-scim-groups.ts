/** Groups of staff that a directory provisions, and the roles that they have given. */
import { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = `
  create table scim_groups (
    id uuid primary key default gen_random_uuid(),
    display_name text not null,
    -- In lower case.
    name_key text not null unique,
    external_id text,
    created_at timestamptz not null,
    updated_at timestamptz not null
  );
  create table scim_group_members (
    group_id uuid not null references scim_groups on delete cascade,
    person_id uuid not null references staff_people on delete cascade,
    primary key (group_id, person_id)
  );
  create index scim_group_members_person on scim_group_members (person_id);

  create table scim_granted_roles (
    person_id uuid primary key references staff_people on delete cascade,
    role text check (role in ('owner', 'operator', 'auditor')),
    -- By id.
    projects jsonb not null
  );
`;

export class ScimGroups1790000001090 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table scim_granted_roles, scim_group_members, scim_groups');
  }
}
