/** Pictures that were made from files. Only Plinth itself reads and writes this table, with the service role. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class Renditions1790000001040 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table if not exists storage.renditions (
        -- The object of the file, which changes with its content.
        source_id uuid not null,
        options text not null,
        object_id uuid not null unique,
        content_type text not null,
        size bigint not null check (size > 0),
        sha256 text not null,
        created_at timestamptz not null default now(),
        primary key (source_id, options)
      );
      create index if not exists renditions_created_at on storage.renditions (created_at);
      alter table storage.renditions enable row level security;
      revoke all on storage.renditions from public, anon, authenticated;
      grant select, insert, update, delete on storage.renditions to service_role;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table storage.renditions');
  }
}
