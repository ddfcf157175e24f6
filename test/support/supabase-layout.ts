/**
 * A database with Supabase's layout: schemas, tables and functions of its services as created by the migrations of
 * supabase/auth, supabase/storage and supabase/postgres, as far as projects refer to them.
 */
export const SUPABASE_LAYOUT = `
  create schema extensions; create schema auth; create schema storage; create schema realtime; create schema vault;
  create schema cron; create schema pgmq; create schema supabase_functions; create schema graphql_public;
  grant usage on schema extensions, auth, storage, public to anon, authenticated, service_role;
  create extension "uuid-ossp" with schema extensions;
  create extension citext with schema extensions;
  alter default privileges in schema public grant all on tables to anon, authenticated, service_role;
  alter default privileges in schema public grant all on functions to anon, authenticated, service_role;
  alter default privileges in schema public grant all on sequences to anon, authenticated, service_role;

  create table auth.users (
    instance_id uuid, id uuid not null primary key, aud varchar(255), role varchar(255), email varchar(255),
    encrypted_password varchar(255), email_confirmed_at timestamptz, invited_at timestamptz,
    confirmation_token varchar(255), confirmation_sent_at timestamptz, recovery_token varchar(255),
    recovery_sent_at timestamptz, email_change_token_new varchar(255), email_change varchar(255),
    email_change_sent_at timestamptz, last_sign_in_at timestamptz, raw_app_meta_data jsonb, raw_user_meta_data jsonb,
    is_super_admin bool, created_at timestamptz, updated_at timestamptz, phone text unique default null,
    phone_confirmed_at timestamptz, phone_change text default '', phone_change_token varchar(255) default '',
    phone_change_sent_at timestamptz,
    confirmed_at timestamptz generated always as (least(email_confirmed_at, phone_confirmed_at)) stored,
    email_change_token_current varchar(255) default '', email_change_confirm_status smallint default 0,
    banned_until timestamptz, reauthentication_token varchar(255) default '', reauthentication_sent_at timestamptz,
    is_sso_user boolean not null default false, deleted_at timestamptz, is_anonymous boolean not null default false
  );
  create table auth.identities (
    provider_id text not null, user_id uuid not null references auth.users on delete cascade, identity_data jsonb not null,
    provider text not null, last_sign_in_at timestamptz, created_at timestamptz, updated_at timestamptz,
    email text generated always as (lower(identity_data->>'email')) stored, id uuid primary key default gen_random_uuid(),
    unique (provider_id, provider)
  );
  create table auth.mfa_factors (id uuid primary key, user_id uuid references auth.users, status text, secret text);
  create table auth.saml_providers (id uuid primary key, entity_id text);
  create function auth.uid() returns uuid language sql stable
    as $$ select nullif(current_setting('request.jwt.claim.sub', true), '')::uuid $$;
  create function auth.role() returns text language sql stable as $$ select current_setting('request.jwt.claim.role', true) $$;
  create function auth.email() returns text language sql stable as $$ select current_setting('request.jwt.claim.email', true) $$;
  create function auth.jwt() returns jsonb language sql stable as $$ select current_setting('request.jwt.claims', true)::jsonb $$;

  create table storage.buckets (
    id text primary key, name text not null unique, owner uuid, created_at timestamptz default now(),
    updated_at timestamptz default now(), public boolean default false, avif_autodetection boolean default false,
    file_size_limit bigint, allowed_mime_types text[], owner_id text
  );
  create table storage.objects (
    id uuid primary key default gen_random_uuid(), bucket_id text references storage.buckets, name text, owner uuid,
    created_at timestamptz default now(), updated_at timestamptz default now(), last_accessed_at timestamptz default now(),
    metadata jsonb, path_tokens text[] generated always as (string_to_array(name, '/')) stored, version text, owner_id text,
    user_metadata jsonb
  );
  alter table storage.objects enable row level security;
  alter table storage.buckets enable row level security;
  create function storage.foldername(name text) returns text[] language sql immutable
    as $$ select (string_to_array(name, '/'))[:array_length(string_to_array(name, '/'), 1) - 1] $$;
  create function storage.extension(name text) returns text language sql immutable
    as $$ select reverse(split_part(reverse(name), '.', 1)) $$;

  create table realtime.messages (topic text not null, extension text not null, payload jsonb, event text,
    private boolean default false, updated_at timestamp not null default now(), inserted_at timestamp not null default now(),
    id uuid not null default gen_random_uuid());
  alter table realtime.messages enable row level security;
  create function realtime.topic() returns text language sql stable as $$ select nullif(current_setting('realtime.topic', true), '') $$;
  create table vault.secrets (id uuid primary key default gen_random_uuid(), name text, secret text);
  create table cron.job (jobid bigint, schedule text, command text, jobname text);
  create table pgmq.meta (queue_name text);
  create function supabase_functions.http_request() returns trigger language plpgsql as $$ begin return new; end $$;
  create publication supabase_realtime;
`;
