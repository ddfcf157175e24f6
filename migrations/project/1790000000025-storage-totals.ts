/**
 * Totals of lists without counting each file: from storage.usage where one visible file tells that all of its bucket are, and
 * else by an index of the columns that the shipped policies look at.
 */
import { MigrationInterface, QueryRunner } from 'typeorm';

const INDEX = 'create index files_by_owner on storage.files (bucket_id, owner_id);';

const FUNCTIONS = `
  -- How many files a bucket has, when whoever sees one of them sees all: because no policy applies (sees_all), or because
  -- policies that select look at bucket and owner alone, and all of the bucket's files have the same owner. Else null.
  -- Policies that take a file as a whole (variable number 0) leave no trace of what they look at.
  create function storage.total_if_alike(bucket uuid, sees_all boolean) returns bigint
    language plpgsql stable security definer set search_path = '' as $$
  begin
    if not sees_all and (
      pg_catalog.row_security_active('storage.files')
      or exists (
        select from pg_catalog.pg_policy p
          where p.polrelid = 'storage.files'::pg_catalog.regclass and p.polcmd in ('r', '*')
            and (p.polqual::text like '%:varattno 0 %' or exists (
              select from pg_catalog.pg_depend d
                where d.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass and d.objid = p.oid
                  and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refobjid = p.polrelid
                  and d.refobjsubid <> 0 and d.refobjsubid not in (
                    select a.attnum from pg_catalog.pg_attribute a
                      where a.attrelid = 'storage.files'::pg_catalog.regclass and a.attname in ('bucket_id', 'owner_id')))))
      or (select f.owner_id from storage.files f where f.bucket_id = bucket order by f.owner_id limit 1)
        is distinct from
        (select f.owner_id from storage.files f where f.bucket_id = bucket order by f.owner_id desc limit 1)
    ) then
      return null;
    end if;
    return (select sum(u.files) from storage.usage u where u.account = bucket);
  end $$;

  -- A deleted bucket leaves its files and takes its totals with it; made anew under its id, it has both again.
  create function storage.count_found() returns trigger language plpgsql security definer set search_path = '' as $$
  begin
    insert into storage.usage (account, slot, bytes, files)
      select f.bucket_id, 0, sum(f.size), count(*) from storage.files f
        where f.bucket_id in (select a.id from added a) group by f.bucket_id;
    return null;
  end $$;
  revoke all on function storage.count_found() from public;

  create trigger count_found after insert on storage.buckets
    referencing new table as added for each statement execute function storage.count_found();
`;

export class StorageTotals1790000000025 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(INDEX + FUNCTIONS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop trigger count_found on storage.buckets;
      drop function storage.count_found(), storage.total_if_alike(uuid, boolean);
      drop index storage.files_by_owner;
    `);
  }
}
