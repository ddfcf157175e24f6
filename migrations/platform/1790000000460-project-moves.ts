/** Moves of projects between PostgreSQL servers: the last one of each project. */
import { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = `
  create table project_moves (
    project_id text primary key references projects on delete cascade,
    -- Null for a project with a server of its own (database_url).
    source_server text,
    -- Encrypted as in projects; null for the server of the platform database.
    source_url bytea,
    target_server text not null,
    -- running and undoing: the project is on the source, and the target may hold a part of a copy. switched: the project is
    -- on the target, and the source may still hold the old database.
    status text not null check (status in ('running', 'undoing', 'switched', 'done', 'failed')),
    step text not null,
    -- Whether the old database stays on the source.
    keep boolean not null,
    bytes_copied bigint not null default 0,
    bytes_total bigint not null,
    -- Milliseconds for which writes were refused.
    writes_refused_ms integer,
    error text,
    started_at timestamptz not null default now(),
    finished_at timestamptz
  );
`;

export class ProjectMoves1790000000460 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table project_moves');
  }
}
