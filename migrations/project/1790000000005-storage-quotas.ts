/**
 * Quotas of buckets and of the project, and Cache-Control by bucket. Triggers keep the totals, whatever SQL changes files;
 * the statement that adds a file fails when a quota has no room for it, so uploads side by side cannot pass it together.
 *
 * One row of totals would make uploads into a bucket wait for each other's commits. Hence an account (a bucket, or the
 * project) has up to 16 slots, one for each of 16 database sessions, and each slot is granted a part of what is left up
 * to the next mark (80 %, 95 %, the quota). Within its grant a session updates its own slot alone. When a grant is used
 * up, all slots of the account are locked, counted and granted anew: that alone is serial, and happens a few dozen times
 * between empty and full, and with each file right below a mark. What a mark means is thus decided under a lock, once.
 */
import { MigrationInterface, QueryRunner } from 'typeorm';

const COLUMNS = `
  alter table storage.buckets
    -- Bytes and files that the bucket may hold; null: as many as the project.
    add column quota_bytes bigint check (quota_bytes > 0),
    add column quota_files bigint check (quota_files > 0),
    -- Sent with its files; null: a default for each kind of address.
    add column cache_control text;

  create table storage.usage (
    -- A bucket's id; the nil UUID stands for the project.
    account uuid,
    slot smallint,
    bytes bigint not null default 0,
    files bigint not null default 0,
    -- How far bytes and files of this slot may grow before all slots must be counted.
    bytes_granted bigint not null default 0,
    files_granted bigint not null default 0,
    -- The quota that was granted from.
    quota_bytes bigint not null default 0,
    quota_files bigint not null default 0,
    -- The mark that the account has reached: 0, 80 or 95 percent.
    mark smallint not null default 0,
    primary key (account, slot)
  -- Room on the page lets PostgreSQL tidy up behind each update by itself (HOT).
  ) with (fillfactor = 25, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
  alter table storage.usage enable row level security;
`;

const FUNCTIONS = `
  -- Adds to an account's totals. Null: no mark is reached; '80': it is; '80!': this change reached it.
  -- Fails with PL413 when the quota has no room; what takes away always passes.
  create function storage.charge(
    in_account uuid, more_bytes bigint, more_files bigint, max_bytes bigint, max_files bigint
  ) returns text language plpgsql set search_path = '' as $$
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
    update storage.usage u set bytes = u.bytes + more_bytes, files = u.files + more_files
      where u.account = in_account and u.slot = own_slot
        -- Below a mark that was reached, the way back must be noticed.
        and (not shrinks or u.mark = 0)
        and (not grows or (u.quota_bytes = quota_b and u.quota_files = quota_f))
        and (more_bytes <= 0 or u.bytes + more_bytes <= u.bytes_granted)
        and (more_files <= 0 or u.files + more_files <= u.files_granted)
      returning u.mark into reached;
    if found then
      return nullif(reached, 0)::text;
    end if;

    -- Slot 0 guards the others: no slot is made, and no grant given, without its lock.
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

  -- Percent: the mark that a total has reached.
  create function storage.mark_of(total bigint, quota bigint) returns smallint language sql immutable
    as $$ select (case when total >= quota - quota / 20 then 95 when total >= quota - quota / 5 then 80 else 0 end)::smallint $$;

  -- The most that a total may be without reaching the next mark, or passing the quota.
  create function storage.next_mark(total bigint, quota bigint) returns bigint language sql immutable
    as $$ select case storage.mark_of(total, quota)
      when 0 then quota - quota / 5 - 1 when 80 then quota - quota / 20 - 1 else quota end $$;

  create type storage.usage_change as (bucket_id uuid, bytes bigint, files bigint);

  -- After each statement that changes files: charges the project, then buckets in the order of their ids, so that no two
  -- statements wait for each other in a circle. Files whose bucket is gone count for the project alone.
  create function storage.keep_totals() returns trigger language plpgsql security definer set search_path = '' as $$
  declare
    changes storage.usage_change[] := '{}';
    change record;
    bucket record;
    mark text;
    marks text := '';
  begin
    if tg_op <> 'DELETE' then
      changes := array(select row(a.bucket_id, sum(a.size), count(*))::storage.usage_change from added a group by a.bucket_id);
    end if;
    if tg_op <> 'INSERT' then
      changes := changes
        || array(select row(g.bucket_id, -sum(g.size), -count(*))::storage.usage_change from gone g group by g.bucket_id);
    end if;
    for change in
      select c.bucket_id, sum(c.bytes)::bigint as bytes, sum(c.files)::bigint as files from unnest(changes) c
        group by grouping sets ((), (c.bucket_id))
        having sum(c.bytes) <> 0 or sum(c.files) <> 0
        order by c.bucket_id nulls first
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

  create function storage.forget_totals() returns trigger language plpgsql security definer set search_path = '' as $$
  begin
    if tg_op = 'TRUNCATE' then
      delete from storage.usage;
    else
      delete from storage.usage u using gone g where u.account = g.id;
    end if;
    return null;
  end $$;

  -- What an upload has to know before its body is read. No caller's policies: a quota counts what the caller may not see.
  create function storage.usage_of(
    bucket uuid, out bucket_bytes bigint, out bucket_files bigint, out project_bytes bigint, out project_files bigint,
    -- Bytes of the bucket's largest file: more cannot become free when a file is overwritten.
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
`;

const TRIGGERS = `
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
`;

/** Replicas of the version before may still be writing. */
const COUNT = `
  lock table storage.buckets, storage.files in share row exclusive mode;
  insert into storage.usage (account, slot, bytes, files)
    select coalesce(f.bucket_id, '00000000-0000-0000-0000-000000000000'), 0, sum(f.size), count(*)
      from storage.files f
      group by grouping sets ((), (f.bucket_id))
      having count(*) > 0
        and (f.bucket_id is null or exists (select from storage.buckets b where b.id = f.bucket_id));
`;

export class StorageQuotas1790000000005 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(COLUMNS + FUNCTIONS + COUNT + TRIGGERS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop trigger forget_totals on storage.buckets;
      drop trigger forget_totals on storage.files;
      drop trigger keep_totals_of_gone on storage.files;
      drop trigger keep_totals_of_changed on storage.files;
      drop trigger keep_totals_of_new on storage.files;
      drop function storage.usage_of(uuid), storage.forget_totals(), storage.keep_totals(),
        storage.charge(uuid, bigint, bigint, bigint, bigint), storage.next_mark(bigint, bigint),
        storage.mark_of(bigint, bigint);
      drop type storage.usage_change;
      drop table storage.usage;
      alter table storage.buckets drop column quota_bytes, drop column quota_files, drop column cache_control;
    `);
  }
}
