/** Tables, views and foreign tables with their columns and constraints. */
import { BASE_TYPES, OWN, USER_SCHEMAS } from './scope';

/** Limit for the bytes of one view's parsed query; longer ones are not read. */
const MAX_ACTION = 1024 * 1024;

/** Columns are read for each relation by index, so that the time stays linear whatever the statistics of pg_class say. */
export const RELATIONS = `
  with ${BASE_TYPES}
  select c.oid::text as oid, n.nspname as schema, c.relname as name, c.relkind as kind, c.relispartition as is_partition,
    case when c.relkind in ('r', 'p') then 28 when c.relkind in ('v', 'f') then pg_relation_is_updatable(c.oid, true) else 0
      end as updatable,
    (select json_agg(json_build_array(
        a.attnum, a.attname,
        case when t.typtype = 'd' then (select format_type(b.base, b.typmod) from bottoms b where b.oid = t.oid)
          else format_type(a.atttypid, a.atttypmod) end,
        format_type(a.atttypid, null),
        case when t.typtype = 'd' then (select format_type(b.base, null) from bottoms b where b.oid = t.oid)
          else format_type(a.atttypid, null) end,
        not (a.attnotnull or t.typtype = 'd' and t.typnotnull),
        a.atthasdef or a.attidentity <> '' or t.typdefault is not null
      ) order by a.attnum)
      from pg_attribute a join pg_type t on t.oid = a.atttypid
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
    (select array_agg(distinct case when a.grantee = 0 then 'public' else pg_get_userbyid(a.grantee)::text end)
      from aclexplode(c.relacl) a where a.privilege_type in ('SELECT', 'INSERT', 'UPDATE', 'DELETE')) as grantees
  from pg_class c join ${USER_SCHEMAS} n on n.oid = c.relnamespace
  where c.oid ${OWN} and c.relkind in ('r', 'v', 'm', 'f', 'p')
  order by n.nspname, c.relname`;

/** A view's parsed query, which is often larger than everything else that is read of the view. */
export const VIEWS = `
  select c.oid::text, r.ev_action::text
  from pg_class c join pg_rewrite r on r.ev_class = c.oid and r.rulename = '_RETURN'
  where c.oid ${OWN} and c.relkind in ('v', 'm') and c.relnamespace in (select oid from ${USER_SCHEMAS} s)
    and octet_length(r.ev_action::text) <= ${MAX_ACTION}
  order by c.oid`;

export const CONSTRAINTS = `
  select k.conname as name, k.contype as type, k.conrelid::text as relation, k.confrelid::text as foreign_relation,
    k.conkey as columns, k.confkey as foreign_columns, k.conparentid <> 0 as inherited
  from pg_constraint k join pg_class c on c.oid = k.conrelid
  where k.oid ${OWN} and k.contype in ('p', 'u', 'f') and c.relnamespace in (select oid from ${USER_SCHEMAS} s)
  order by k.conrelid, k.conname`;
