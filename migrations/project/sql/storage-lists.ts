/**
 * Totals of file lists without counting: storage.usage has the number if one visible file proves that all are
 * visible.
 */
export const STORAGE_LISTS = `
  -- The number of files of a bucket, if a caller that sees one of them sees all: because no policy applies (sees_all), or
  -- because the select policies read bucket_id and owner_id only and all files of the bucket have the same owner. Else null.
  -- Policies that refer to the whole row (variable number 0) do not record which columns they read.
  --
  -- The function runs as its owner and cannot ask the policies what the caller sees. So the caller proves it: seen is the
  -- object_id of a file of the bucket, which is random and visible only with the file. sees_all is checked against the
  -- "role" setting, which security definer does not change.
  create function storage.total_if_alike(bucket uuid, seen uuid, sees_all boolean) returns bigint
    language plpgsql stable security definer set search_path = '' as $$
  declare
    given constant text := pg_catalog.current_setting('role');
  begin
    if sees_all then
      sees_all := exists (
        select from pg_catalog.pg_class c, pg_catalog.pg_roles r
          where c.oid = 'storage.files'::pg_catalog.regclass
            and r.rolname = case given when 'none' then session_user else given end
            and (not c.relrowsecurity or r.rolsuper or r.rolbypassrls
              or (not c.relforcerowsecurity and pg_catalog.pg_has_role(r.oid, c.relowner, 'usage'))));
    end if;
    if not sees_all and (
      pg_catalog.row_security_active('storage.files')
      or exists (
        select from pg_catalog.pg_policy p
          where p.polrelid = 'storage.files'::pg_catalog.regclass and p.polcmd in ('r', '*')
            and (pg_catalog.strpos(p.polqual::text, ':varattno 0 ') > 0 or exists (
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
    return (
      select sum(u.files) from storage.usage u where u.account = bucket
        and exists (select from storage.files f where f.object_id = seen and f.bucket_id = bucket));
  end $$;

  -- The number of files of a bucket that the caller sees; seen is the object_id of one of them, or null.
  create function storage.count_visible(bucket uuid, seen uuid) returns bigint
    language plpgsql stable as $$
  begin
    return coalesce(
      case when seen is not null then
        storage.total_if_alike(bucket, seen, not pg_catalog.row_security_active('storage.files')) end,
      (select pg_catalog.count(*) from storage.files f where f.bucket_id = bucket));
  end $$;
`;
