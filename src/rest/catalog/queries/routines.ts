/** Functions, and the media types and representations that some of them produce. */
import { MAY_LEAVE_LOCKS, MAY_READ_REQUEST } from '../code-traits';
import { BASE_TYPES, OWN, USER_SCHEMAS } from './scope';

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
