/** What tells that the schema has changed, and how changes are announced. */
import { DDL_TRIGGER } from '../../../provisioning/event-triggers';
import { OWN, USER_SCHEMAS } from './scope';

/** Changes with every catalog row that DDL writes, comments and values of enums included; costs about a tenth of reading everything. */
export const FINGERPRINT = `
  select md5(concat_ws(' ',
    (select concat_ws(':', count(*), sum(hashtextextended(c.oid::text || c.xmin::text, 0)))
       from pg_class c where c.oid ${OWN} and c.relnamespace in (select oid from ${USER_SCHEMAS} s) and c.relkind in ('r', 'v', 'm', 'f', 'p')),
    (select concat_ws(':', count(*), sum(hashtextextended(a.attrelid::text || a.attnum::text || a.xmin::text, 0)))
       from pg_attribute a join pg_class c on c.oid = a.attrelid
       where a.attrelid ${OWN} and a.attnum > 0
         and c.relnamespace in (select oid from ${USER_SCHEMAS} s) and c.relkind in ('r', 'v', 'm', 'f', 'p')),
    (select concat_ws(':', count(*), sum(hashtextextended(d.oid::text || d.xmin::text, 0))) from pg_attrdef d),
    (select concat_ws(':', count(*), sum(hashtextextended(k.oid::text || k.xmin::text, 0)))
       from pg_constraint k where k.oid ${OWN} and k.connamespace in (select oid from ${USER_SCHEMAS} s)),
    (select concat_ws(':', count(*), sum(hashtextextended(p.oid::text || p.xmin::text, 0)))
       from pg_proc p where p.oid ${OWN} and p.pronamespace in (select oid from ${USER_SCHEMAS} s)),
    (select concat_ws(':', count(*), sum(hashtextextended(t.oid::text || t.xmin::text, 0)))
       from pg_type t where t.oid ${OWN} and t.typtype in ('d', 'e') and t.typnamespace in (select oid from ${USER_SCHEMAS} s)),
    (select concat_ws(':', count(*), sum(hashtextextended(e.oid::text || e.xmin::text, 0))) from pg_enum e),
    (select concat_ws(':', count(*), sum(hashtextextended(d.objoid::text || d.objsubid::text || d.xmin::text, 0)))
       from pg_description d where d.objoid ${OWN}),
    (select concat_ws(':', count(*), sum(hashtextextended(k.oid::text || k.xmin::text, 0))) from pg_cast k where k.oid ${OWN}),
    (select concat_ws(':', count(*), sum(hashtextextended(p.oid::text || p.xmin::text, 0))) from pg_policy p),
    (select string_agg(n.nspname || n.xmin::text, ',' order by n.nspname) from pg_namespace n where n.nspname !~ '^pg_')
  )) as fingerprint`;

export const ANNOUNCES = `
  select exists (select from pg_event_trigger where evtname = '${DDL_TRIGGER}' and evtenabled <> 'D') as announces_ddl`;
