/** Uploads in several requests (TUS 1.0). Only Plinth itself reads and writes these tables, with the service role. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class ResumableUploads1790000000700 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table if not exists storage.resumable_uploads (
        id uuid primary key,
        -- Upload-Metadata and Upload-Concat as the client sent them.
        upload_metadata text not null,
        concat text,
        upsert boolean not null,
        -- Who began the upload, and alone may go on with it.
        role text not null,
        subject text,
        length bigint not null check (length >= 0),
        received bigint not null default 0 check (received between 0 and length),
        created_at timestamptz not null default now(),
        expires_at timestamptz not null,
        -- The process that joins the parts has until then; the object that it writes.
        joining_until timestamptz,
        object_id uuid,
        completed_at timestamptz
      );
      create index if not exists resumable_uploads_expires_at on storage.resumable_uploads (expires_at);
      create table if not exists storage.resumable_parts (
        upload_id uuid not null references storage.resumable_uploads on delete cascade,
        start bigint not null,
        size bigint not null check (size > 0),
        object_id uuid not null unique,
        primary key (upload_id, start)
      );
      alter table storage.resumable_uploads enable row level security;
      alter table storage.resumable_parts enable row level security;
      revoke all on storage.resumable_uploads, storage.resumable_parts from public, anon, authenticated;
      grant select, insert, update, delete on storage.resumable_uploads, storage.resumable_parts to service_role;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table storage.resumable_parts, storage.resumable_uploads');
  }
}
