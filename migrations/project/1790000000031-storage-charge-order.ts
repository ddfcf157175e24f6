/**
 * Uploads at a quota's mark could wait for each other in a circle: who finds its slot changed meanwhile has locked it, then asks
 * for slot 0, and who holds slot 0 asks for all others. A slot that does not do is now let go of before slot 0 is asked for.
 */
import { MigrationInterface, QueryRunner } from 'typeorm';

const CHARGE = `
  -- Adds to an account's totals. Null: no mark is reached; '80': it is; '80!': this change reached it.
  -- Fails with PL413 when the quota has no room; what takes away always passes.
  create or replace function storage.charge(
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
          -- Below a mark that was reached, the way back must be noticed.
          and (not shrinks or u.mark = 0)
          and (not grows or (u.quota_bytes = quota_b and u.quota_files = quota_f))
          and (more_bytes <= 0 or u.bytes + more_bytes <= u.bytes_granted)
          and (more_files <= 0 or u.files + more_files <= u.files_granted)
        returning u.mark into reached;
      if found then
        return nullif(reached, 0)::text;
      end if;
      -- Had another session granted anew meanwhile, the row was locked before its new version was found not to do:
      -- the end of this block gives the lock back.
      raise sqlstate 'PL000';
    exception when sqlstate 'PL000' then
      null;
    end;

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
`;

export class StorageChargeOrder1790000000031 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(CHARGE);
  }

  /** Nothing is changed back, because nothing else behaves differently. */
  async down(): Promise<void> {}
}
