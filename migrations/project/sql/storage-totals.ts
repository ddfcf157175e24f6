/**
 * Triggers that update storage.usage after any SQL that changes files, and the function that uploads read it
 * with.
 */
export const STORAGE_TOTALS = `
  create type storage.usage_change as (bucket_id uuid, bytes bigint, files bigint);

  -- After each statement that changes files. Files without a bucket count for the project only. Uploads and most deletions
  -- change the files of one bucket, which needs no grouping.
  create function storage.keep_totals() returns trigger language plpgsql
    security definer set search_path = '' as $$
  declare
    no_quota constant bigint := 4611686018427387904;
    project constant uuid := '00000000-0000-0000-0000-000000000000';
    own_slot constant smallint := pg_catalog.pg_backend_pid() % 16;
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
      if first_bucket = last_bucket then
        begin
          -- An upload that reaches no mark: it updates the slots of this session only, the project's first as below. In all
          -- other cases storage.charge() decides.
          update storage.usage u set bytes = u.bytes + changed_bytes, files = u.files + changed_files
            where u.account = project and u.slot = own_slot and u.mark = 0
              and u.bytes + changed_bytes <= u.bytes_granted and u.files + changed_files <= u.files_granted
              and u.quota_bytes = coalesce(nullif(current_setting('storage.quota_bytes', true), '')::bigint, no_quota)
              and u.quota_files = coalesce(nullif(current_setting('storage.quota_files', true), '')::bigint, no_quota);
          if found then
            update storage.usage u set bytes = u.bytes + changed_bytes, files = u.files + changed_files
              from storage.buckets b
              where b.id = first_bucket::uuid and u.account = b.id and u.slot = own_slot and u.mark = 0
                and u.bytes + changed_bytes <= u.bytes_granted and u.files + changed_files <= u.files_granted
                and u.quota_bytes = coalesce(b.quota_bytes, no_quota) and u.quota_files = coalesce(b.quota_files, no_quota);
            if found then
              return null;
            end if;
          end if;
          -- Leaving the block undoes a first update and releases its lock: storage.charge() locks slot 0 first.
          raise sqlstate 'PL000';
        exception when sqlstate 'PL000' then
          null;
        end;
      end if;
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
      -- The project first, then the buckets in the order of their ids, so that statements cannot deadlock.
      changes := array(
        select row(c.bucket_id, sum(c.bytes), sum(c.files))::storage.usage_change from unnest(changes) c
          group by grouping sets ((), (c.bucket_id))
          having sum(c.bytes) <> 0 or sum(c.files) <> 0
          order by c.bucket_id nulls first);
    end if;
    foreach change in array changes
    loop
      if change.bucket_id is null then
        mark := storage.charge(project, change.bytes, change.files,
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

  create function storage.forget_totals() returns trigger language plpgsql security definer set search_path = '' as $$
  begin
    if tg_op = 'TRUNCATE' then
      delete from storage.usage;
    else
      delete from storage.usage u using gone g where u.account = g.id;
    end if;
    return null;
  end $$;

  -- A deleted bucket keeps its files but not its totals. A bucket inserted again under the same id gets them back.
  create function storage.count_found() returns trigger language plpgsql security definer set search_path = '' as $$
  begin
    insert into storage.usage (account, slot, bytes, files)
      select f.bucket_id, 0, sum(f.size), count(*) from storage.files f
        where f.bucket_id in (select a.id from added a) group by f.bucket_id;
    return null;
  end $$;
  revoke all on function storage.count_found() from public;

  -- Read before the body of an upload. Runs as the owner: a quota also counts files that the caller may not see.
  create function storage.usage_of(
    bucket uuid, out bucket_bytes bigint, out bucket_files bigint, out project_bytes bigint, out project_files bigint,
    -- Bytes of the largest file of the bucket: an overwrite cannot free more.
    out largest bigint
  ) language sql stable security definer set search_path = '' as $$
    select b.bytes, b.files, p.bytes, p.files,
        (select coalesce(max(f.size), 0) from storage.files f where f.bucket_id = bucket)
      from (select coalesce(sum(u.bytes), 0)::bigint as bytes, coalesce(sum(u.files), 0)::bigint as files
              from storage.usage u where u.account = bucket) b,
           (select coalesce(sum(u.bytes), 0)::bigint as bytes, coalesce(sum(u.files), 0)::bigint as files
              from storage.usage u where u.account = '00000000-0000-0000-0000-000000000000') p
  $$;

  revoke all on function storage.charge(uuid, bigint, bigint, bigint, bigint), storage.keep_totals(),
    storage.forget_totals() from public;

  create trigger keep_totals_of_new after insert on storage.files
    referencing new table as added for each statement execute function storage.keep_totals();
  create trigger keep_totals_of_changed after update on storage.files
    referencing old table as gone new table as added for each statement execute function storage.keep_totals();
  create trigger keep_totals_of_gone after delete on storage.files
    referencing old table as gone for each statement execute function storage.keep_totals();
  create trigger forget_totals after truncate on storage.files
    for each statement execute function storage.forget_totals();
  create trigger forget_totals after delete on storage.buckets
    referencing old table as gone for each statement execute function storage.forget_totals();
  create trigger count_found after insert on storage.buckets
    referencing new table as added for each statement execute function storage.count_found();
`;
