/** Requests, mails and webhook deliveries of projects, for HISTORY_DAYS and at most 64 MiB of each project. */
import { MigrationInterface, QueryRunner } from 'typeorm';

const TABLE = `
  create table project_history (
    id bigint generated always as identity,
    project_id text not null references projects on delete cascade,
    at timestamptz not null,
    -- rest, auth, storage, realtime, other, mail or webhook.
    source text not null,
    method text,
    -- A masked path, the kind of a mail, or the id of a webhook.
    path text not null,
    status smallint,
    role text,
    ms real,
    ms_database real,
    bytes bigint,
    error text,
    request_id text,
    statement text,
    -- Entries that were left out before this one.
    left_out integer not null,
    size integer not null
  );
  create index project_history_page on project_history (project_id, at desc, id desc) include (size);
  create index project_history_at on project_history using brin (at) with (pages_per_range = 16);
`;

export class ProjectHistory1790000001080 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table project_history');
  }
}
