/** Buckets, files, and the totals that quotas are checked against. Row-level security: storage-policies.ts. */
export const STORAGE_TABLES = `
  create table storage.buckets (
    id uuid primary key default gen_random_uuid(),
    name text not null constraint buckets_name_key unique check (name <> '' and octet_length(name) <= 255),
    slug text not null constraint buckets_slug_key unique check (slug <> ''),
    description text,
    is_public boolean not null default false,
    -- Null for a project bucket, created with the service-role key: every signed-in user may upload into it.
    owner_id uuid default auth.uid(),
    -- Bytes; null for the limit of the project.
    file_size_limit bigint check (file_size_limit > 0),
    -- Null for any type. An entry may be a family such as image/*.
    allowed_mime_types text[],
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    -- Bytes and files that the bucket may hold; null for the quota of the project alone.
    quota_bytes bigint check (quota_bytes > 0),
    quota_files bigint check (quota_files > 0),
    -- Cache-Control of downloads; null for a default per kind of address.
    cache_control text
  );

  create table storage.files (
    id uuid primary key default gen_random_uuid(),
    -- No foreign key: deleting a bucket keeps its files and must not update a million rows.
    bucket_id uuid not null,
    -- Ordered by code points: the same order on every system, and the index serves prefix searches.
    filename text collate "C" not null check (filename <> '' and octet_length(filename) <= 1024),
    content_type text not null,
    size bigint not null,
    sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
    owner_id uuid default auth.uid(),
    metadata jsonb not null default '{}' check (jsonb_typeof(metadata) = 'object'),
    -- Key of the bytes at the provider. Unique, so that no row can refer to the bytes of another.
    object_id uuid not null constraint files_object_id_key unique,
    -- Object replaced by the last overwrite; the writer removes its bytes.
    replaced_object_id uuid,
    -- Part of every signed address: incrementing it revokes all of them.
    link_revision integer not null default 0,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    constraint files_bucket_id_filename_key unique (bucket_id, filename),
    -- PostgreSQL checks constraints in the order of their names; storage.may_upload() needs this one first.
    constraint files_00_is_no_trial check (size >= 0)
  );
  create index files_by_age on storage.files (bucket_id, created_at, id);
  create index files_by_size on storage.files (bucket_id, size, id);
  -- The shipped policies read these two columns only, so visible files are counted by an index-only scan.
  create index files_by_owner on storage.files (bucket_id, owner_id);

  alter table storage.buckets enable row level security;
  alter table storage.files enable row level security;
  grant select, insert, update, delete on storage.buckets to anon, authenticated, service_role;
  -- owner_id and created_at never change.
  grant select, insert, delete on storage.files to anon, authenticated, service_role;
  grant update (bucket_id, filename, content_type, size, sha256, metadata, object_id, replaced_object_id,
                link_revision, updated_at) on storage.files to anon, authenticated, service_role;

  create table storage.usage (
    -- Id of a bucket; the nil UUID for the project.
    account uuid,
    slot smallint,
    bytes bigint not null default 0,
    files bigint not null default 0,
    -- Totals that this slot may reach before all slots must be counted again.
    bytes_granted bigint not null default 0,
    files_granted bigint not null default 0,
    -- The quota at the time of the grant.
    quota_bytes bigint not null default 0,
    quota_files bigint not null default 0,
    -- The mark that the account has reached, in percent: 0, 80 or 95.
    mark smallint not null default 0,
    primary key (account, slot)
  -- Free space on the page allows HOT updates.
  ) with (fillfactor = 25, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
  alter table storage.usage enable row level security;
`;
