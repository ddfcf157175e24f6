/** Fragments that several queries share. */
import { FIRST_NORMAL_OID, MAY_LEAVE_LOCKS, MAY_READ_REQUEST } from './code-traits';
import { REQUEST_ROLES } from '../../database/platform/server-capabilities';
import { DDL_TRIGGER } from '../../provisioning/event-triggers';

/** Schemas that are never part of the catalog. */
const USER_SCHEMAS = `(select oid, nspname from pg_namespace
  where nspname !~ '^pg_' and nspname not in ('information_schema', 'plinth', 'plinth_migrations'))`;

/**
 * Objects in schemas of users have oids from here on; the oids of PostgreSQL's own objects are lower. The
 * condition lets PostgreSQL read a few rows by an index instead of a whole table of the system catalog.
 */
const OWN = `>= ${FIRST_NORMAL_OID}`;

/** With an empty search_path, format_type() qualifies every name that is not built in. */
export const QUALIFY_NAMES = `select set_config('search_path', '', true)`;

/** The base types of domains, through nested domains, with the length that the innermost type declares. */
const BASE_TYPES = `
  recursive domains(oid, base, typmod, depth) as (
    select oid, typbasetype, typtypmod, 1 from pg_type where typtype = 'd'
    union all
    select d.oid, t.typbasetype, t.typtypmod, d.depth + 1 from domains d join pg_type t on t.oid = d.base
    where t.typtype = 'd'
  ),
  bottoms as materialized (select distinct on (oid) oid, base, typmod from domains order by oid, depth desc)`;

/** Maximum bytes of one view's parsed query; longer queries are not read. */
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

/** A view's parsed query, which is often larger than all other data about the view. */
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

/** Functions, and the media types and representations that some of them produce. */
export const ROUTINES = `
  with ${BASE_TYPES}
  select n.nspname as schema, p.proname as name, p.proargnames as names, p.proargmodes::text[] as modes,
    (select array_agg(format_type(u.type, null) order by u.position) from unnest(p.proargtypes) with ordinality u(type, position))
      as types,
    (select json_agg(json_build_array(coalesce(p.proargnames[u.position], ''), format_type(u.type, null)) order by u.position)
      from unnest(p.proallargtypes, p.proargmodes) with ordinality u(type, mode, position) where u.mode in ('o', 'b', 't'))
      as output,
    p.pronargdefaults as default_count, p.provariadic <> 0 as variadic, p.provolatile as volatility,
    p.proretset as returns_set, not p.proretset or p.prorows = 1 as single_row,
    rn.nspname as result_schema, r.typname as result_name, t.typname as base_name,
    t.typtype = 'c' or coalesce(p.proargmodes::text[] && '{t,b,o}', false) as is_composite,
    nullif(t.typrelid, 0)::text as result_relation,
    (select a.typrelid::text from pg_type a where p.pronargs = 1 and a.oid = p.proargtypes[0] and a.typrelid <> 0)
      as argument_relation,
    (select substr(s, 19, 100) from unnest(p.proconfig) s where s like 'statement_timeout=%') as statement_timeout,
    (select substr(s, 31, 100) from unnest(p.proconfig) s where s like 'default_transaction_isolation=%') as isolation,
    case when p.proacl is not null then
      (select coalesce(array_agg(case when a.grantee = 0 then 'public' else pg_get_userbyid(a.grantee)::text end), '{}')
        from aclexplode(p.proacl) a where a.privilege_type = 'EXECUTE')
      end as grantees
  from pg_proc p
    join ${USER_SCHEMAS} n on n.oid = p.pronamespace
    join pg_type r on r.oid = p.prorettype join pg_namespace rn on rn.oid = r.typnamespace
    left join bottoms b on b.oid = r.oid join pg_type t on t.oid = coalesce(b.base, r.oid)
  where p.oid ${OWN} and p.prokind = 'f' and t.typname not in ('trigger', 'event_trigger')
  order by n.nspname, p.proname, p.oid`;

/** Domains named like media types, and the functions that produce them. */
export const HANDLERS = `
  with media as (
    select oid, lower(typname) as media_type, typbasetype = 'bytea'::regtype as is_binary from pg_type
    where oid ${OWN} and typtype = 'd' and (typname ~* '^[a-z0-9.-]+/[a-z0-9.+-]+$' or typname = '*/*')
  )
  select m.media_type, n.nspname as routine_schema, p.proname as routine_name, p.prokind = 'a' as is_aggregate, m.is_binary,
    case when p.prokind = 'a' then nullif(a.typrelid, 0)::text end as relation
  from media m join pg_proc p on p.prorettype = m.oid and p.oid ${OWN} join ${USER_SCHEMAS} n on n.oid = p.pronamespace
    left join pg_type a on a.oid = p.proargtypes[0]
  where (p.prokind = 'a' and p.pronargs = 1 and (a.typrelid <> 0 or a.typname = 'anyelement'))
     or (p.prokind = 'f' and not p.proretset)`;

/** Implicit casts between a domain and json or text. */
export const REPRESENTATIONS = `
  select format_type(k.castsource, null) as source, format_type(k.casttarget, null) as target,
    n.nspname as schema, p.proname as name
  from pg_cast k join pg_type s on s.oid = k.castsource join pg_type t on t.oid = k.casttarget
    join pg_proc p on p.oid = k.castfunc join pg_namespace n on n.oid = p.pronamespace
  where k.castcontext = 'i' and k.castmethod = 'f'
    and (s.typtype = 'd' and t.oid in ('json'::regtype, 'text'::regtype)
      or t.typtype = 'd' and s.oid in ('json'::regtype, 'text'::regtype))`;

export const TRAITS = `
  select exists (
    select from pg_proc p join ${USER_SCHEMAS} n on n.oid = p.pronamespace join pg_language l on l.oid = p.prolang
    where p.oid ${OWN} and p.prokind in ('f', 'p')
      and (p.prosrc ~ 'response\\.(headers|status)'
        or l.lanname = 'sql' and p.prosqlbody is not null and pg_get_functiondef(p.oid) ~ 'response\\.(headers|status)')
  ) as sets_response,
  ${MAY_READ_REQUEST} as reads_request, ${MAY_LEAVE_LOCKS} as leaves_locks`;

/** Roles of requests: their settings, and the relations that they cannot read. */
const SHARED = `'{${REQUEST_ROLES.join(', ')}}'::name[]`;

/** Maximum bytes of one setting; longer settings are not read. */
const MAX_SETTING = 8_192;

/**
 * Maximum number of a project's own roles that are read, in order of their names. The roles that all projects
 * share do not count.
 */
export const MAX_OWN_ROLES = 100;

/**
 * Roles that the login role was made a member of, directly, by the project's owner, a superuser or an admin role (a
 * member of the login role). Any owner may grant its roles to the roles of all projects, so neither grants by others
 * nor roles that were granted to a granted role count: their number is in the hands of other projects.
 */
const GRANTED_ROLES = `
  granted_roles(oid) as materialized (
    select r.oid
    from pg_roles me join pg_auth_members m on m.member = me.oid join pg_roles r on r.oid = m.roleid
    where me.rolname = current_user and r.rolname <> all (${SHARED}) and r.rolname !~ '^pg_' and (
      m.grantor = (select datdba from pg_database where datname = current_database())
      or (select rolsuper from pg_roles where oid = m.grantor)
      or exists (select from pg_auth_members a where a.roleid = me.oid and a.member = m.grantor))
    group by r.oid, r.rolname order by r.rolname limit ${MAX_OWN_ROLES}
  )`;

/**
 * Settings of a project's own roles (ALTER ROLE ... SET) that a request may apply: only those that need no privilege,
 * and none that Plinth's own statements or the reading of results depend on. Settings of the roles that all projects
 * share are never read: each role may change its own settings, so every owner can change the settings of anon.
 * pg_settings takes milliseconds to compute, so it is not joined but looked up for the settings found, usually none.
 */
export const ROLES = `
  with ${GRANTED_ROLES},
  found as materialized (
    select r.rolname, d.setdatabase, split_part(setting, '=', 1) as name, substr(setting, strpos(setting, '=') + 1) as value
    from granted_roles o join pg_roles r on r.oid = o.oid
      cross join lateral (select * from pg_db_role_setting where setrole = o.oid
        and setdatabase = any (array[0, (select oid from pg_database where datname = current_database())]) offset 0) d,
      unnest(d.setconfig) setting
    where octet_length(setting) <= ${MAX_SETTING}
  )
  select rolname as role, name, value from found
  where name not in ('role', 'session_authorization', 'search_path', 'client_encoding')
    and (select p.context from pg_settings p where p.name = found.name) = 'user'
  order by rolname, setdatabase, name`;

/**
 * Roles of requests that cannot read back the rows they write, so that RETURNING would make the write fail
 * (PostgreSQL manual, CREATE POLICY, table of policies by command). A role without a policy may inherit one.
 * The query loops over roles: PostgreSQL keeps the memberships of one role in memory, and a shared role may
 * have many.
 */
export const WITHHELD = `
  with ${GRANTED_ROLES},
  roles as materialized (
    select oid, rolname::text as name, rolsuper or rolbypassrls as bypasses
    from pg_roles where rolname = any (${SHARED}) or oid in (select oid from granted_roles)
  ),
  relations as materialized (
    select oid, relowner, relrowsecurity from pg_class
    where relkind in ('r', 'v', 'f', 'p') and relnamespace in (select oid from ${USER_SCHEMAS} s)
  ),
  policies as materialized (
    select polrelid, polroles from pg_policy where polpermissive and polcmd in ('r', '*')
  ),
  seen as materialized (
    select distinct p.polrelid, r.oid as role
    from roles r cross join lateral (select * from policies offset 0) p, unnest(p.polroles) o
    where o = 0 or pg_has_role(r.oid, o, 'USAGE')
  ),
  withheld as materialized (
    select c.oid, r.name, hidden.yes as hidden, closed.yes as closed
    from roles r cross join lateral (select * from relations offset 0) c
      left join seen s on s.polrelid = c.oid and s.role = r.oid,
      lateral (select not has_table_privilege(r.oid, c.oid, 'SELECT') and exists (
        select from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
          and not has_column_privilege(r.oid, c.oid, a.attnum, 'SELECT')) as yes) hidden,
      lateral (select c.relrowsecurity and s.role is null and not r.bypasses and not pg_has_role(r.oid, c.relowner, 'USAGE')
        as yes) closed
    where hidden.yes or closed.yes
  )
  select oid::text as relation, array_agg(name order by name) filter (where hidden) as hidden_from,
    array_agg(name order by name) filter (where closed) as closed_to
  from withheld group by oid`;

/**
 * Types whose text output shows names of the system catalog: the aliases of oid, that is all types with a
 * binary cast to it except int4; aclitem, which prints names of roles; then arrays, domains, ranges and
 * composite types of these. Nearly every row type of the system catalog contains one, so all of them count.
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

/**
 * Changes with every catalog row that DDL writes, including comments and values of enums. Costs about a tenth
 * of reading everything.
 */
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
