/** People who administer the installation: accounts, project roles, sessions, tokens, invitations, and set-up links. */
import { MigrationInterface, QueryRunner } from 'typeorm';

const PEOPLE = `
  create table staff_people (
    id uuid primary key default gen_random_uuid(),
    email text not null,
    -- Normalized; addresses are compared by it.
    email_key text not null unique,
    name text not null,
    -- Role of the installation; null: roles of projects only.
    role text check (role in ('owner', 'operator', 'auditor')),
    password_hash text not null,
    -- Not null: the account cannot be used.
    disabled_at timestamptz,
    -- Encrypted. The factor counts once it is confirmed.
    totp_secret bytea,
    totp_confirmed_at timestamptz,
    -- Time step of the last accepted code, so that each code is accepted once.
    totp_step bigint not null default 0,
    created_at timestamptz not null default now(),
    last_sign_in_at timestamptz
  );

  create table staff_recovery_codes (
    person_id uuid not null references staff_people on delete cascade,
    code_hash bytea not null,
    primary key (person_id, code_hash)
  );

  create table staff_members (
    project_id text not null references projects on delete cascade,
    person_id uuid not null references staff_people on delete cascade,
    role text not null check (role in ('admin', 'developer', 'viewer')),
    primary key (project_id, person_id)
  );
  create index staff_members_person on staff_members (person_id);
`;

const CREDENTIALS = `
  -- Tokens are stored as SHA-256. A session has up to three while its token is replaced.
  create table staff_sessions (
    id uuid primary key default gen_random_uuid(),
    person_id uuid not null references staff_people on delete cascade,
    token_hash bytea not null unique,
    -- Sent to the client, and not used yet.
    next_hash bytea unique,
    next_at timestamptz,
    previous_hash bytea unique,
    -- When token_hash became the current one.
    rotated_at timestamptz not null,
    created_at timestamptz not null,
    last_used_at timestamptz not null,
    expires_at timestamptz not null,
    address text,
    user_agent text
  );
  create index staff_sessions_person on staff_sessions (person_id);

  create table staff_tokens (
    id uuid primary key default gen_random_uuid(),
    person_id uuid not null references staff_people on delete cascade,
    name text not null,
    token_hash bytea not null unique,
    scopes text[] not null,
    -- Null: all projects of the person.
    project_id text references projects on delete cascade,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    last_used_at timestamptz
  );
  create index staff_tokens_person on staff_tokens (person_id);
  create index staff_tokens_project on staff_tokens (project_id);
`;

const INVITATIONS = `
  create table staff_invitations (
    id uuid primary key default gen_random_uuid(),
    token_hash bytea not null unique,
    email text not null,
    email_key text not null unique,
    role text check (role in ('owner', 'operator', 'auditor')),
    -- Null: invited with PLATFORM_ADMIN_KEY.
    invited_by uuid references staff_people on delete cascade,
    created_at timestamptz not null,
    expires_at timestamptz not null
  );
  create index staff_invitations_inviter on staff_invitations (invited_by);

  create table staff_invitation_projects (
    invitation_id uuid not null references staff_invitations on delete cascade,
    project_id text not null references projects on delete cascade,
    role text not null check (role in ('admin', 'developer', 'viewer')),
    primary key (invitation_id, project_id)
  );
  create index staff_invitation_projects_project on staff_invitation_projects (project_id);

  -- Links that make the first owner. Empty once there is one.
  create table staff_setup_tokens (
    token_hash bytea primary key,
    expires_at timestamptz not null
  );
`;

export class Staff1790000000300 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(PEOPLE + CREDENTIALS + INVITATIONS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table staff_setup_tokens, staff_invitation_projects, staff_invitations, staff_tokens,
      staff_sessions, staff_members, staff_recovery_codes, staff_people`);
  }
}
