/**
 * What an upload costs the database (docs/performance.md, "Storage"): the functions of earlier migrations, made to do the
 * same with less. Undoing changes nothing back, because nothing behaves differently.
 */
import { MigrationInterface, QueryRunner } from 'typeorm';

const MAY_UPLOAD = `
  -- The row lacks its object_id: PostgreSQL checks row-level security first, then what may not be null, and only then
  -- prepares the table's check constraints. A trigger of the project may fill the id in: the size is no file's, either.
  create or replace function storage.may_upload(bucket uuid, name text) returns text language plpgsql as $$
  declare
    violated text;
  begin
    insert into storage.files (bucket_id, filename, content_type, size, sha256, owner_id, object_id)
      values (bucket, name, 'application/octet-stream', -1, repeat('0', 64), auth.uid(), null);
    return 'yes';
  exception
    when not_null_violation then
      get stacked diagnostics violated = column_name;
      if violated = 'object_id' then
        return 'yes';
      end if;
      raise;
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

const KEEP_TOTALS = `
  -- Called by storage.keep_totals() alone, whose search path it runs under.
  alter function storage.charge(uuid, bigint, bigint, bigint, bigint) reset search_path;

  -- As before, but the files of a single bucket, which is what uploads and most deletions change, need no grouping.
  create or replace function storage.keep_totals() returns trigger language plpgsql
    security definer set search_path = '' as $$
  declare
    changed_files bigint;
    changed_bytes bigint;
    first_bucket text;
    last_bucket text;
    changes storage.usage_change[] := '{}';
    change storage.usage_change;
    bucket record;
    mark text;
    marks text := '';
  begin
    if tg_op = 'INSERT' then
      select count(*), sum(a.size), min(a.bucket_id::text), max(a.bucket_id::text)
        into changed_files, changed_bytes, first_bucket, last_bucket from added a;
    elsif tg_op = 'DELETE' then
      select -count(*), -sum(g.size), min(g.bucket_id::text), max(g.bucket_id::text)
        into changed_files, changed_bytes, first_bucket, last_bucket from gone g;
    end if;
    if changed_files = 0 then
      return null;
    elsif first_bucket = last_bucket then
      changes := array[
        row(null, changed_bytes, changed_files)::storage.usage_change,
        row(first_bucket::uuid, changed_bytes, changed_files)::storage.usage_change];
    else
      if tg_op <> 'DELETE' then
        changes := array(select row(a.bucket_id, sum(a.size), count(*))::storage.usage_change from added a group by a.bucket_id);
      end if;
      if tg_op <> 'INSERT' then
        changes := changes
          || array(select row(g.bucket_id, -sum(g.size), -count(*))::storage.usage_change from gone g group by g.bucket_id);
      end if;
      -- The project first, then buckets in the order of their ids: no two statements wait for each other in a circle.
      changes := array(
        select row(c.bucket_id, sum(c.bytes), sum(c.files))::storage.usage_change from unnest(changes) c
          group by grouping sets ((), (c.bucket_id))
          having sum(c.bytes) <> 0 or sum(c.files) <> 0
          order by c.bucket_id nulls first);
    end if;
    foreach change in array changes
    loop
      if change.bucket_id is null then
        mark := storage.charge('00000000-0000-0000-0000-000000000000', change.bytes, change.files,
          nullif(current_setting('storage.quota_bytes', true), '')::bigint,
          nullif(current_setting('storage.quota_files', true), '')::bigint);
        marks := case when mark is null then '' else 'project=' || mark end;
      else
        select b.quota_bytes, b.quota_files into bucket from storage.buckets b where b.id = change.bucket_id;
        continue when not found;
        mark := storage.charge(change.bucket_id, change.bytes, change.files, bucket.quota_bytes, bucket.quota_files);
        if mark is not null and (change.bytes > 0 or change.files > 0) then
          marks := concat_ws(',', nullif(marks, ''), 'bucket=' || mark);
        end if;
      end if;
    end loop;
    if marks <> '' then
      perform set_config('storage.quota_marks', marks, true);
    end if;
    return null;
  end $$;
`;

export class StorageUploadCost1790000000027 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(MAY_UPLOAD + KEEP_TOTALS);
  }

  async down(): Promise<void> {}
}
