/** Identities of people at the issuer of single sign-on, and sign-ins that must not be completed twice. */
import { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = `
  -- Null: the person signs in by single sign-on only.
  alter table staff_people alter column password_hash drop not null;

  create table staff_identities (
    issuer text not null,
    subject text not null,
    person_id uuid not null references staff_people on delete cascade,
    -- The roles that the groups gave at the last sign-in. Other roles were given by people, and stay.
    granted_role text check (granted_role in ('owner', 'operator', 'auditor')),
    granted_projects jsonb not null default '{}',
    created_at timestamptz not null,
    primary key (issuer, subject)
  );
  create index staff_identities_person on staff_identities (person_id);

  -- Completed sign-ins of several steps. A second completion of the same one is refused.
  create table staff_used_flows (
    id uuid primary key,
    expires_at timestamptz not null
  );
  create index staff_used_flows_end on staff_used_flows (expires_at);
`;

export class StaffOidc1790000000370 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
  }

  async down(runner: QueryRunner): Promise<void> {
    // No password matches the text.
    await runner.query(`drop table staff_used_flows, staff_identities;
      update staff_people set password_hash = '' where password_hash is null;
      alter table staff_people alter column password_hash set not null`);
  }
}
