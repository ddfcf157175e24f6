/**
 * What Supabase's clients and policies expect of storage: Cache-Control of single files, the functions that take a path apart,
 * and `storage.objects`, which shows storage.files under Supabase's names of columns and under the same policies.
 */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class SupabaseStorage1790000000300 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(COLUMN);
    await runner.query(FUNCTIONS);
    await runner.query(VIEW);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop view if exists storage.objects;
      drop function if exists storage.foldername(text), storage.filename(text), storage.extension(text);
      alter table storage.files drop column if exists cache_control;`);
  }
}

const COLUMN = `
  -- Cache-Control of this file; null for that of its bucket.
  alter table storage.files add column if not exists cache_control text;
  grant update (cache_control) on storage.files to anon, authenticated, service_role;`;

/** An owner may already have functions of these names, which then stay. */
const FUNCTIONS = `
  do $do$ begin
    if to_regprocedure('storage.foldername(text)') is null then
      -- The folders of a path: 'a/b/c.png' gives {a,b}.
      create function storage.foldername(name text) returns text[] language sql immutable
        as $$ select (string_to_array(name, '/'))[:array_length(string_to_array(name, '/'), 1) - 1] $$;
    end if;
    if to_regprocedure('storage.filename(text)') is null then
      -- The last part of a path: 'a/b/c.png' gives 'c.png'.
      create function storage.filename(name text) returns text language sql immutable
        as $$ select (string_to_array(name, '/'))[array_length(string_to_array(name, '/'), 1)] $$;
    end if;
    if to_regprocedure('storage.extension(text)') is null then
      -- What follows the last dot of a path: 'a/b/c.png' gives 'png'.
      create function storage.extension(name text) returns text language sql immutable
        as $$ select reverse(split_part(reverse(name), '.', 1)) $$;
    end if;
  end $do$;`;

/** Before PostgreSQL 15 a view reads with its owner's rights, so that no policy would apply to its readers. */
const VIEW = `
  do $do$ begin
    if to_regclass('storage.objects') is null and current_setting('server_version_num')::int >= 150000 then
      create view storage.objects with (security_invoker = true) as
        select f.id, b.name as bucket_id, f.filename as name, f.owner_id as owner, f.owner_id::text as owner_id,
            f.created_at, f.updated_at, f.updated_at as last_accessed_at,
            jsonb_build_object('eTag', '"' || f.sha256 || '"', 'size', f.size, 'mimetype', f.content_type,
              'cacheControl', coalesce(f.cache_control, 'no-cache'), 'lastModified', f.updated_at,
              'contentLength', f.size, 'httpStatusCode', 200) as metadata,
            f.metadata as user_metadata, string_to_array(f.filename, '/') as path_tokens, f.object_id::text as version
          from storage.files f left join storage.buckets b on b.id = f.bucket_id;
      grant select on storage.objects to anon, authenticated, service_role;
    end if;
  end $do$;`;
