/**
 * A list's total by one call: what counts the files, with all its policies, was made ready for each list though it is hardly
 * ever run. And policies are searched by strpos(): LIKE takes four times as long for a text of theirs.
 */
import { MigrationInterface, QueryRunner } from 'typeorm';

const totalIfAlike = (takesWholeFile: string): string => `
  create or replace function storage.total_if_alike(bucket uuid, sees_all boolean) returns bigint
    language plpgsql stable security definer set search_path = '' as $$
  begin
    if not sees_all and (
      pg_catalog.row_security_active('storage.files')
      or exists (
        select from pg_catalog.pg_policy p
          where p.polrelid = 'storage.files'::pg_catalog.regclass and p.polcmd in ('r', '*')
            and (${takesWholeFile} or exists (
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
`;

const COUNT = `
  -- How many files of a bucket the caller sees; sees_one tells that there is one at least.
  create function storage.count_visible(bucket uuid, sees_one boolean) returns bigint
    language plpgsql stable as $$
  begin
    return coalesce(
      case when sees_one then
        storage.total_if_alike(bucket, not pg_catalog.row_security_active('storage.files')) end,
      (select pg_catalog.count(*) from storage.files f where f.bucket_id = bucket));
  end $$;
`;

export class StorageListCost1790000000043 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(totalIfAlike(`pg_catalog.strpos(p.polqual::text, ':varattno 0 ') > 0`) + COUNT);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop function storage.count_visible(uuid, boolean);');
    await runner.query(totalIfAlike(`p.polqual::text like '%:varattno 0 %'`));
  }
}
