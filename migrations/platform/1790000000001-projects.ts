/** Projects, their secrets, and the audit log of platform administration. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class Projects1790000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table projects (
        id text primary key,
        slug text not null unique,
        name text not null,
        plan text not null check (plan in ('free', 'pro', 'enterprise')),
        status text not null check (status in ('provisioning', 'active', 'deleting')),
        settings jsonb not null default '{}',
        -- Admin address of another PostgreSQL server, encrypted; null: the platform's own.
        server_url bytea,
        database_name text not null unique,
        owner_role text not null unique,
        login_role text not null unique,
        owner_password bytea not null,
        login_password bytea not null,
        storage_secret bytea not null,
        schema_version text not null default '',
        -- The server lets Plinth neither watch DDL nor pass row-level security: new tables are looked for instead.
        polled boolean not null default false,
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now()
      );
      create table project_secrets (
        project_id text not null references projects on delete cascade,
        kid text not null,
        secret bytea not null,
        created_at timestamptz not null default now(),
        -- Null: the current one. Set by a rotation: valid until then.
        expires_at timestamptz,
        primary key (project_id, kid)
      );
      create unique index project_secrets_one_current on project_secrets (project_id) where expires_at is null;
      create table audit_log (
        id bigint generated always as identity primary key,
        at timestamptz not null default now(),
        actor text not null,
        action text not null,
        -- No reference: what is said of a project outlives it.
        project_id text,
        address text,
        details jsonb not null default '{}'
      );
      create index audit_log_project on audit_log (project_id, id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table audit_log; drop table project_secrets; drop table projects;');
  }
}
