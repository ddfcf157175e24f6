/** Changes that the owner of a project can make by SQL to its storage tables and to the functions that Plinth calls. */
import { CRLF, LOOSEN, MEGABYTES } from './hostile-columns';
import type { Subject } from './storage-requests';

export interface Alteration {
  readonly name: string;
  readonly sql: string;
  /** Requests for these subjects must be refused with 500 storage_unavailable; other requests may be served. */
  readonly refused: readonly Subject[];
}

const altered = (name: string, sql: string, refused: readonly Subject[] = []): Alteration => ({
  name,
  sql,
  refused,
});

/** Replacements of functions that Plinth calls, with other results. */
const replaced = (signature: string, body: string, refused: readonly Subject[] = []): Alteration =>
  altered(
    `${signature.split('(')[0]}() ${body.slice(0, 60)}`,
    `do $$ begin execute 'drop function ' || 'storage.${signature.split(' returns')[0]}'::regprocedure || ' cascade'; end $$;
     create function storage.${signature} language plpgsql as $body$ begin ${body} end $body$;`.replace(
      /'storage\.(\w+)\([^)]*\)'::regprocedure/,
      `(select p.oid::regprocedure from pg_proc p where p.pronamespace = 'storage'::regnamespace and p.proname = '$1')`,
    ),
    refused,
  );

const LIMITED = `update storage.buckets set quota_bytes = 1000000, quota_files = 1000;`;
const limited = (one: Alteration): Alteration => ({ ...one, sql: LIMITED + one.sql });
const USAGE = `usage_of(bucket uuid, out bucket_bytes float8, out bucket_files text, out project_bytes float8,
  out project_files float8, out largest float8) returns record`;

export const FUNCTIONS: readonly Alteration[] = [
  replaced('may_upload(bucket uuid, name text) returns text', `return null;`, ['target']),
  replaced('may_upload(bucket uuid, name text) returns text', `return 'YES';`, ['target']),
  replaced('may_upload(bucket uuid, name text) returns text', `return ${MEGABYTES};`, ['target']),
  replaced('may_upload(bucket uuid, name text) returns text[]', `return '{yes}';`, ['target']),
  limited(replaced(USAGE, `bucket_bytes := 'NaN';`, ['target'])),
  limited(replaced(USAGE, `bucket_bytes := 1; bucket_files := '1';`, ['target'])),
  limited(replaced('usage_of(bucket uuid) returns text', `return ${MEGABYTES};`, ['target'])),
  limited(replaced('usage_of(bucket uuid) returns jsonb', `return '[1]';`, ['target'])),
  replaced('count_visible(bucket uuid, seen uuid) returns bigint', 'return -5;'),
  replaced('count_visible(bucket uuid, seen uuid) returns text', `return ${CRLF};`),
  replaced('count_visible(bucket uuid, seen uuid) returns text', `return ${MEGABYTES};`),
  replaced('total_if_alike(bucket uuid, seen uuid, sees_all boolean) returns text', `return 'many';`),
  altered(
    'quota_marks of megabytes and line breaks',
    `create function public.mark() returns trigger language plpgsql as $$ begin
        perform set_config('storage.quota_marks', repeat(E'project=99999999999\\r\\nX-Evil: 1,', 300000), true);
        return new; end $$;
      create trigger mark before insert or update on storage.files for each row execute function public.mark();`,
  ),
  altered(
    'quota_marks of a thousand marks',
    `create function public.mark() returns trigger language plpgsql as $$ begin
        perform set_config('storage.quota_marks', repeat('project=80!,', 1000), true);
        return new; end $$;
      create trigger mark before insert or update on storage.files for each row execute function public.mark();`,
  ),
  altered(
    'an error that pretends to be a quota',
    `create function public.fail() returns trigger language plpgsql as $$ begin
        raise exception using errcode = 'PL413', message = 'x', hint = E'<script>\\r\\nX-Evil: 1', detail = 'NaN',
          constraint = repeat('c', 60); end $$;
      create trigger fail before insert or update or delete on storage.files for each row execute function public.fail();`,
  ),
  altered(
    'a forged unique_violation of the file name',
    `create function public.fail() returns trigger language plpgsql as $$ begin
        raise unique_violation using constraint = 'files_bucket_id_filename_key'; end $$;
      create trigger fail before insert or update or delete on storage.files for each row execute function public.fail();`,
  ),
  altered(
    'an error of megabytes',
    `create function public.fail() returns trigger language plpgsql as $$ begin
        raise exception '%', ${MEGABYTES} using hint = ${MEGABYTES}, detail = ${MEGABYTES}; end $$;
      create trigger fail before insert or update or delete on storage.files for each row execute function public.fail();`,
  ),
];

const view = (table: string, select: string): string =>
  `alter table storage.${table} rename to ${table}_kept;
   create view storage.${table} as ${select};
   grant all on storage.${table} to anon, authenticated, service_role;`;

const DROPPED = (table: string, columns: readonly string[], refused: readonly Subject[]): Alteration[] =>
  columns.flatMap((name) => [
    altered(
      `${table}.${name} dropped`,
      `${LOOSEN} alter table storage.${table} drop column ${name} cascade;`,
      refused,
    ),
    altered(
      `${table}.${name} renamed`,
      `alter table storage.${table} rename column ${name} to renamed;`,
      refused,
    ),
  ]);

/** @param path from a project's folder to a foreign file */
export const replacedObjectId = (path: string): Alteration =>
  altered(
    'files.replaced_object_id set to a path by a trigger',
    `${LOOSEN}
     alter table storage.files alter column replaced_object_id type text, alter column object_id type text,
       add constraint files_bucket_id_filename_key unique (bucket_id, filename);
     create function public.replace() returns trigger language plpgsql as
       $$ begin new.replaced_object_id := '${path}'; return new; end $$;
     create trigger a_replace before insert or update on storage.files for each row execute function public.replace();`,
    ['write'],
  );

export const TABLES: readonly Alteration[] = [
  altered('files dropped', 'drop table storage.files cascade', ['list', 'record', 'content', 'link']),
  altered('buckets dropped', 'drop table storage.buckets cascade', ['bucket', 'list', 'content', 'target']),
  altered('usage dropped', 'drop table storage.usage cascade'),
  altered('the schema dropped', 'drop schema storage cascade', ['bucket', 'list', 'record', 'content']),
  altered('the schema renamed', 'alter schema storage rename to elsewhere', ['bucket', 'list', 'record']),
  altered(
    'nothing granted',
    'revoke all on all tables in schema storage from anon, authenticated, service_role',
  ),
  altered('functions dropped', 'drop function storage.may_upload, storage.count_visible', ['target']),
  ...DROPPED('files', ['object_id', 'size', 'sha256', 'content_type', 'updated_at', 'filename'], ['content']),
  ...DROPPED('files', ['metadata', 'created_at'], ['record', 'list']),
  ...DROPPED('buckets', ['is_public', 'cache_control', 'id'], ['bucket', 'content']),
  altered(
    'files a view of rows without number',
    view(
      'files',
      `select k.id, k.bucket_id, n || k.filename as filename, k.content_type, k.size, k.sha256, k.owner_id, k.metadata,
        (left('00000000-0000-4000-8000-', 24) || lpad(to_hex(n), 12, '0'))::uuid as object_id, k.replaced_object_id,
        k.link_revision, k.created_at, k.updated_at
        from storage.files_kept k, generate_series(1, 12000) n`,
    ),
  ),
  altered(
    'files a view that answers one row again and again',
    view(
      'files',
      `select k.id, k.bucket_id, k.filename, k.content_type, k.size, k.sha256, k.owner_id, k.metadata, k.object_id,
        k.replaced_object_id, k.link_revision, k.created_at, k.updated_at
        from storage.files_kept k, generate_series(1, 3000) n`,
    ),
  ),
  altered(
    'files a view with columns that take turns',
    view(
      'files',
      `select id, bucket_id, content_type as filename, filename as content_type, size, 'x' as sha256, owner_id, metadata,
        id as object_id, replaced_object_id, link_revision, updated_at as created_at, created_at as updated_at
        from storage.files_kept`,
    ),
    ['content'],
  ),
  altered(
    'operators and functions of a search_path that hides the real ones',
    `create function public.octet_length(text) returns int language sql as 'select 1';
     create function public.floor(numeric) returns text language sql as $$ select E'1\\r\\nX-Evil: 1' $$;
     create function public.always(bigint, bigint) returns boolean language sql as 'select true';
     create operator public.>= (leftarg = bigint, rightarg = bigint, function = public.always);
     alter table storage.files drop constraint files_00_is_no_trial;
     alter table storage.files disable trigger user;
     update storage.files set size = -1;
     do $$ begin execute format('alter database %I set search_path = public, pg_catalog', current_database()); end $$;`,
    ['content', 'record', 'list'],
  ),
  altered(
    'policies that sleep past the time limit',
    `${LOOSEN} drop policy everything on storage.files;
     create policy sleepy on storage.files using ((select pg_sleep(60)) is not null);
     alter table storage.files force row level security;`,
  ),
];
