/** The schema of the platform database: projects, their secrets, the audit log, and facts about the installation. */
import { MigrationInterface, QueryRunner } from 'typeorm';

const PROJECTS = `
  create table projects (
    id text primary key,
    slug text not null unique,
    name text not null,
    plan text not null check (plan in ('free', 'pro', 'enterprise')),
    status text not null check (status in ('provisioning', 'active', 'deleting')),
    settings jsonb not null default '{}',
    -- Admin URL of another PostgreSQL server, encrypted; null for the platform's own.
    server_url bytea,
    database_name text not null unique,
    owner_role text not null unique,
    login_role text not null unique,
    owner_password bytea not null,
    login_password bytea not null,
    schema_version text not null default '',
    -- True where the server allows no event triggers: the catalog is read at intervals instead.
    polled boolean not null default false,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
  );

  -- A token secret and the storage secret that rotates with it, both encrypted.
  create table project_secrets (
    project_id text not null references projects on delete cascade,
    kid text not null,
    secret bytea not null,
    created_at timestamptz not null default now(),
    -- Null for the current one. A rotation sets it: the secret is valid until then.
    expires_at timestamptz,
    storage_secret bytea not null,
    primary key (project_id, kid)
  );
  create unique index project_secrets_one_current on project_secrets (project_id) where expires_at is null;
`;

const INSTALL = `
  create table audit_log (
    id bigint generated always as identity primary key,
    at timestamptz not null default now(),
    actor text not null,
    action text not null,
    -- No foreign key: the log outlives the project.
    project_id text,
    address text,
    details jsonb not null default '{}'
  );
  create index audit_log_project on audit_log (project_id, id);

  -- Facts about the installation, for example that the first start is over.
  create table platform_facts (
    name text primary key,
    at timestamptz not null default now()
  );

  -- Projects with mails in progress or given up, so that the recovery of lost mails need not open every database.
  create table mail_outboxes (
    project_id text primary key references projects on delete cascade,
    -- At most a minute older than the latest mail of the project.
    touched_at timestamptz not null,
    -- Mails that were given up, as last counted.
    failed integer not null default 0
  );
`;

export class Initial1790000000100 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(PROJECTS + INSTALL);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table mail_outboxes, platform_facts, audit_log, project_secrets, projects;');
  }
}
