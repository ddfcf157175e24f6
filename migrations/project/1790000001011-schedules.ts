/** What a project runs at times of a cron expression, and the history of it. Runs again without harm. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class Schedules1790000001011 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table if not exists hooks.schedules (
        id uuid primary key,
        name text not null unique check (length(name) between 1 and 100),
        cron text not null,
        time_zone text not null,
        -- Run as the owner; null for a request.
        sql text,
        -- Sent by hooks.http_post().
        url text,
        body jsonb,
        enabled boolean not null default true,
        -- The last time of the expression that was attended to, so that each is once.
        last_due_at timestamptz not null default pg_catalog.now(),
        created_at timestamptz not null default pg_catalog.now(),
        updated_at timestamptz not null default pg_catalog.now(),
        check ((sql is null) <> (url is null))
      );
      create table if not exists hooks.schedule_runs (
        id uuid primary key default pg_catalog.gen_random_uuid(),
        schedule_id uuid not null references hooks.schedules on delete cascade,
        due_at timestamptz not null,
        started_at timestamptz not null default pg_catalog.now(),
        finished_at timestamptz,
        state text not null default 'running' check (state in ('running', 'succeeded', 'failed')),
        -- What SQL answered, or the webhook-id of the request.
        result text,
        error text
      );
      create index if not exists schedule_runs_of_schedule on hooks.schedule_runs (schedule_id, started_at);
      alter table hooks.schedules enable row level security;
      alter table hooks.schedule_runs enable row level security;
      -- service_role must not write SQL that the owner runs.
      grant select, update (last_due_at) on hooks.schedules to service_role;
      grant select, insert, update, delete on hooks.schedule_runs to service_role;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table hooks.schedule_runs, hooks.schedules');
  }
}
