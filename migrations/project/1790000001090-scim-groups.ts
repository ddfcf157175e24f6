/** Groups that a directory provisions. `app_data.groups` of an account has the names of its groups. Runs again without harm. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class ProjectScimGroups1790000001090 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table if not exists auth.scim_groups (
        id uuid primary key default gen_random_uuid(),
        display_name text not null,
        -- In lower case.
        name_key text not null unique,
        external_id text,
        created_at timestamptz not null,
        updated_at timestamptz not null
      );
      create table if not exists auth.scim_group_members (
        group_id uuid not null references auth.scim_groups on delete cascade,
        person_id uuid not null references auth.users on delete cascade,
        primary key (group_id, person_id)
      );
      create index if not exists scim_group_members_person on auth.scim_group_members (person_id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table auth.scim_group_members, auth.scim_groups');
  }
}
