/**
 * Types whose text output shows names of the system catalog: the aliases of oid, that is all types with a
 * binary cast to it except int4; aclitem, which prints names of roles; then arrays, domains, ranges and
 * composite types of these. Nearly every row type of the system catalog contains one, so all of those count.
 * build-catalog.ts adds the row types of the project's relations.
 */
export const REVEALING = `
  with recursive made_of(type, part) as materialized (
    select oid, typelem from pg_type where typelem <> 0
    union all select oid, typbasetype from pg_type where typtype = 'd'
    union all select rngtypid, rngsubtype from pg_range
    union all select rngmultitypid, rngtypid from pg_range
    union all select c.reltype, a.atttypid from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relkind = 'c' and a.attnum > 0 and not a.attisdropped
  ),
  revealing(type) as (
    select castsource from pg_cast
      where casttarget = 'oid'::regtype and castmethod = 'b' and castsource <> 'int4'::regtype
    union select 'aclitem'::regtype
    union select oid from pg_type where typtype = 'c' and typnamespace = 'pg_catalog'::regnamespace
    union select m.type from made_of m join revealing r on r.type = m.part
  )
  select n.nspname as schema, t.typname as name, format_type(t.oid, null) as shown
  from revealing r join pg_type t on t.oid = r.type join pg_namespace n on n.oid = t.typnamespace
  order by n.nspname, t.typname`;
