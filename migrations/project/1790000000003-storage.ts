/**
 * Buckets and files of a project, with the shipped policies (DECISIONS.md 6), which a project may replace. Bytes lie with
 * the provider under `object_id`; a row is written when they are complete, and no row names another's bytes.
 */
import { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = `
  create table storage.buckets (
    id uuid primary key default gen_random_uuid(),
    name text not null constraint buckets_name_key unique check (name <> '' and octet_length(name) <= 255),
    slug text not null constraint buckets_slug_key unique check (slug <> ''),
    description text,
    is_public boolean not null default false,
    -- Null: a project bucket, made with the service-role key, into which every signed-in user may upload.
    owner_id uuid default auth.uid(),
    -- Bytes; null: the project's limit.
    file_size_limit bigint check (file_size_limit > 0),
    -- Null: any. An entry may be a whole family: image/*
    allowed_mime_types text[],
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
  );

  create table storage.files (
    id uuid primary key default gen_random_uuid(),
    -- No foreign key: deleting a bucket leaves its files, and must not touch a million rows.
    bucket_id uuid not null,
    -- Collated by code points: the same order on every system, and prefixes can be looked up in the index.
    filename text collate "C" not null check (filename <> '' and octet_length(filename) <= 1024),
    content_type text not null,
    size bigint not null,
    sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
    owner_id uuid default auth.uid(),
    metadata jsonb not null default '{}' check (jsonb_typeof(metadata) = 'object'),
    -- Names the bytes. Unique, so that nobody can point a row of their own at the bytes of another.
    object_id uuid not null constraint files_object_id_key unique,
    -- What the last overwrite took the place of: tells the one who wrote which bytes to remove.
    replaced_object_id uuid,
    -- Part of every signed address: raising it revokes them all.
    link_revision integer not null default 0,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    constraint files_bucket_id_filename_key unique (bucket_id, filename),
    -- The first by name, hence the first to be checked: storage.may_upload() relies on it.
    constraint files_00_is_no_trial check (size >= 0)
  );
  create index files_by_age on storage.files (bucket_id, created_at, id);
  create index files_by_size on storage.files (bucket_id, size, id);

  alter table storage.buckets enable row level security;
  alter table storage.files enable row level security;
  grant select, insert, update, delete on storage.buckets to anon, authenticated, service_role;
  -- Who made a file, and when, stays as it is.
  grant select, insert, delete on storage.files to anon, authenticated, service_role;
  grant update (bucket_id, filename, content_type, size, sha256, metadata, object_id, replaced_object_id,
                link_revision, updated_at) on storage.files to anon, authenticated, service_role;
`;

const FUNCTIONS = `
  -- True while the bucket is there, whoever asks.
  create function storage.bucket_exists(bucket uuid) returns boolean
    language sql stable security definer set search_path = ''
    as $$ select exists (select from storage.buckets b where b.id = bucket) $$;

  -- Whether the caller may upload: 'yes', 'no', or 'depends' when a policy looks at what only the body tells.
  -- PostgreSQL checks row-level security before constraints and constraints before it writes: a row that violates one on
  -- purpose tells whether the policies let it pass, and leaves nothing behind, not even in the table's file.
  create function storage.may_upload(bucket uuid, name text) returns text language plpgsql as $$
  declare
    violated text;
  begin
    insert into storage.files (bucket_id, filename, content_type, size, sha256, owner_id, object_id)
      values (bucket, name, 'application/octet-stream', -1, repeat('0', 64), auth.uid(), gen_random_uuid());
    return 'yes';
  exception
    when check_violation then
      get stacked diagnostics violated = constraint_name;
      if violated = 'files_00_is_no_trial' then
        return 'yes';
      end if;
      raise;
    when insufficient_privilege then
      return case when exists (
        select from pg_catalog.pg_depend d
          join pg_catalog.pg_policy p on p.oid = d.objid and p.polcmd in ('a', '*')
          join pg_catalog.pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
        where d.classid = 'pg_catalog.pg_policy'::regclass and d.refobjid = 'storage.files'::regclass
          and a.attname in ('filename', 'content_type', 'size', 'sha256', 'metadata')
      ) then 'depends' else 'no' end;
  end $$;
`;

const BUCKET_POLICIES = `
  create policy "the service role does everything" on storage.buckets to service_role using (true) with check (true);
  create policy "everybody reads public buckets" on storage.buckets for select to anon, authenticated
    using (is_public);
  create policy "a user reads own buckets and project buckets" on storage.buckets for select to authenticated
    using (owner_id = (select auth.uid()) or owner_id is null);
  create policy "a user creates buckets" on storage.buckets for insert to authenticated
    with check (owner_id = (select auth.uid()));
  create policy "a user changes own buckets" on storage.buckets for update to authenticated
    using (owner_id = (select auth.uid())) with check (owner_id = (select auth.uid()));
  create policy "a user deletes own buckets" on storage.buckets for delete to authenticated
    using (owner_id = (select auth.uid()));
`;

const FILE_POLICIES = `
  create policy "the service role does everything" on storage.files to service_role using (true) with check (true);
  create policy "everybody reads files in public buckets" on storage.files for select to anon, authenticated
    using (exists (select from storage.buckets b where b.id = bucket_id and b.is_public));
  create policy "a user reads own files and files in own buckets" on storage.files for select to authenticated
    using (owner_id = (select auth.uid())
      or exists (select from storage.buckets b where b.id = bucket_id and b.owner_id = (select auth.uid())));
  create policy "a user uploads into own buckets and project buckets" on storage.files for insert to authenticated
    with check (owner_id = (select auth.uid()) and exists (
      select from storage.buckets b where b.id = bucket_id and (b.owner_id = (select auth.uid()) or b.owner_id is null)));
  -- A file whose bucket is gone may be changed where it is; otherwise it ends up where its owner may upload.
  create policy "a user changes own files and files in own buckets" on storage.files for update to authenticated
    using (owner_id = (select auth.uid())
      or exists (select from storage.buckets b where b.id = bucket_id and b.owner_id = (select auth.uid())))
    with check (
      exists (select from storage.buckets b where b.id = bucket_id
        and (b.owner_id = (select auth.uid()) or (b.owner_id is null and files.owner_id = (select auth.uid()))))
      or (owner_id = (select auth.uid()) and not storage.bucket_exists(bucket_id)));
  create policy "a user deletes own files and files in own buckets" on storage.files for delete to authenticated
    using (owner_id = (select auth.uid())
      or exists (select from storage.buckets b where b.id = bucket_id and b.owner_id = (select auth.uid())));
`;

export class Storage1790000000003 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLES + FUNCTIONS + BUCKET_POLICIES + FILE_POLICIES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table storage.files, storage.buckets;
      drop function storage.may_upload(uuid, text), storage.bucket_exists(uuid);
    `);
  }
}
