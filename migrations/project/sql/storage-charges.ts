/**
 * Totals of buckets and of the project, exact under concurrency. With one row per account, all uploads into a
 * bucket would wait for each other's commits. Therefore an account (a bucket, or the project) has up to 16
 * slots, chosen by the backend's process id. Each slot is granted a part of the remaining amount up to the next
 * mark (80 %, 95 %, the quota), and within its grant a session updates its own slot only. When a grant is used
 * up, the session locks all slots of the account, adds up their totals, and grants each slot a new part.
 */
export const STORAGE_CHARGES = `
  -- The mark that a total has reached, in percent.
  create function storage.mark_of(total bigint, quota bigint) returns smallint language sql immutable
    as $$ select (case when total >= quota - quota / 20 then 95 when total >= quota - quota / 5 then 80 else 0 end)::smallint $$;

  -- The largest total below the next mark, or within the quota.
  create function storage.next_mark(total bigint, quota bigint) returns bigint language sql immutable
    as $$ select case storage.mark_of(total, quota)
      when 0 then quota - quota / 5 - 1 when 80 then quota - quota / 20 - 1 else quota end $$;

  -- Adds to the totals of an account. Returns null below the first mark, '80' above it, '80!' if this change reached it.
  -- Raises PL413 when the quota is exceeded; a change that shrinks the totals always passes.
  -- Called by storage.keep_totals() only, under its search_path.
  create function storage.charge(
    in_account uuid, more_bytes bigint, more_files bigint, max_bytes bigint, max_files bigint
  ) returns text language plpgsql as $$
  declare
    no_quota constant bigint := 4611686018427387904;
    quota_b bigint := coalesce(max_bytes, no_quota);
    quota_f bigint := coalesce(max_files, no_quota);
    own_slot constant smallint := pg_catalog.pg_backend_pid() % 16;
    grows constant boolean := more_bytes > 0 or more_files > 0;
    shrinks constant boolean := more_bytes < 0 or more_files < 0;
    scope constant text := case in_account when '00000000-0000-0000-0000-000000000000' then 'project' else 'bucket' end;
    old record;
    total_b bigint;
    total_f bigint;
    share_b bigint;
    share_f bigint;
    reached smallint;
  begin
    begin
      update storage.usage u set bytes = u.bytes + more_bytes, files = u.files + more_files
        where u.account = in_account and u.slot = own_slot
          -- A shrinking account may fall below its mark: take the slow path.
          and (not shrinks or u.mark = 0)
          and (not grows or (u.quota_bytes = quota_b and u.quota_files = quota_f))
          and (more_bytes <= 0 or u.bytes + more_bytes <= u.bytes_granted)
          and (more_files <= 0 or u.files + more_files <= u.files_granted)
        returning u.mark into reached;
      if found then
        return nullif(reached, 0)::text;
      end if;
      -- If another session has changed the grant, the update locked the row before it found that the new version does
      -- not match. Leaving the block releases that lock: the slow path locks slot 0 first.
      raise sqlstate 'PL000';
    exception when sqlstate 'PL000' then
      null;
    end;

    -- Only a session that has locked slot 0 creates slots and grants.
    insert into storage.usage (account, slot) values (in_account, 0) on conflict do nothing;
    perform from storage.usage u where u.account = in_account and u.slot = 0 for update;
    insert into storage.usage (account, slot) values (in_account, own_slot) on conflict do nothing;
    perform from storage.usage u where u.account = in_account order by u.slot for update;
    select sum(u.bytes)::bigint as bytes, sum(u.files)::bigint as files, count(*) as slots, max(u.mark) as mark,
        max(u.quota_bytes) as quota_bytes, max(u.quota_files) as quota_files
      into old from storage.usage u where u.account = in_account;
    if not grows then
      quota_b := old.quota_bytes;
      quota_f := old.quota_files;
    end if;
    total_b := old.bytes + more_bytes;
    total_f := old.files + more_files;
    if more_bytes > 0 and total_b > quota_b then
      raise exception using errcode = 'PL413', message = 'quota_exceeded', hint = scope,
        constraint = 'bytes', detail = quota_b::text;
    end if;
    if more_files > 0 and total_f > quota_f then
      raise exception using errcode = 'PL413', message = 'quota_exceeded', hint = scope,
        constraint = 'files', detail = quota_f::text;
    end if;
    reached := greatest(storage.mark_of(total_b, quota_b), storage.mark_of(total_f, quota_f));
    share_b := greatest(storage.next_mark(total_b, quota_b) - total_b, 0) / old.slots;
    share_f := greatest(storage.next_mark(total_f, quota_f) - total_f, 0) / old.slots;
    update storage.usage u set
        bytes = u.bytes + more.bytes, bytes_granted = u.bytes + more.bytes + share_b,
        files = u.files + more.files, files_granted = u.files + more.files + share_f,
        quota_bytes = quota_b, quota_files = quota_f, mark = reached
      from (select s.slot, case when s.slot = own_slot then more_bytes else 0 end as bytes,
              case when s.slot = own_slot then more_files else 0 end as files
            from storage.usage s where s.account = in_account) more
      where u.account = in_account and u.slot = more.slot;
    return case when reached > old.mark then reached || '!' else nullif(reached, 0)::text end;
  end $$;
`;
