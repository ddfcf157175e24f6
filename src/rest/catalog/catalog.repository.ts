/**
 * Reads a project's schema from pg_catalog in one round trip of a few set-based queries. It runs as the login role:
 * pg_catalog is readable for every role, so the result doesn't depend on grants.
 */
import { Injectable } from '@nestjs/common';
import type { Statement } from '../../database/statement';
import { eachRow } from '../../pg-pipeline';
import { ProjectDatabase } from '../../database/pools/project-database';
import { RlsTransaction } from '../../database/rls/rls-transaction';
import { DDL_TRIGGER } from '../../projects/provisioning/event-triggers';
import type {
  CatalogRows,
  ConstraintRow,
  HandlerRow,
  RelationRow,
  RepresentationRow,
  RevealingRow,
  RoleRow,
  RoutineRow,
  ViewRow,
  WithheldRow,
} from './catalog-rows';
import type { CodeTraits } from './catalog';
import { FIRST_NORMAL_OID, MAY_LEAVE_LOCKS, MAY_READ_REQUEST } from './code-traits';
import { parseViewOrigins } from './view-origins';

const REASON = 'the schema itself is read, not data';

/** Limit for the bytes of all rows that are kept; a thousand tables take about one million. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Limit for the bytes of all views' parsed queries, which are read one by one and not kept. */
const MAX_ACTIONS = 256 * 1024 * 1024;
/** Limit for the bytes of one view's parsed query or one setting; longer ones are not read. */
const MAX_ACTION = 1024 * 1024;
const MAX_SETTING = 8_192;

/** Schemas that are never part of the catalog. */
const USER_SCHEMAS = `(select oid, nspname from pg_namespace
  where nspname !~ '^pg_' and nspname not in ('information_schema', 'plinth', 'plinth_migrations'))`;

/**
 * Objects of these schemas have oids from here on: PostgreSQL's own come before them. The condition lets PostgreSQL read a few rows
 * by an index instead of a whole table of the system catalog.
 */
const OWN = `>= ${FIRST_NORMAL_OID}`;

/** With an empty search_path, format_type() qualifies every name that is not built in. */
const QUALIFY_NAMES = `select set_config('search_path', '', true)`;

/** Changes with every catalog row that DDL writes, comments and values of enums included; costs about a tenth of reading everything. */
const FINGERPRINT = `
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

/** The base types of domains, below nested ones, with the length that the innermost one declares. */
const BASE_TYPES = `
  recursive domains(oid, base, typmod, depth) as (
    select oid, typbasetype, typtypmod, 1 from pg_type where typtype = 'd'
    union all
    select d.oid, t.typbasetype, t.typtypmod, d.depth + 1 from domains d join pg_type t on t.oid = d.base
    where t.typtype = 'd'
  ),
  bottoms as materialized (select distinct on (oid) oid, base, typmod from domains order by oid, depth desc)`;

/** Columns are read for each relation by index, so that the time stays linear whatever the statistics of pg_class say. */
const RELATIONS = `
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
const VIEWS = `
  select c.oid::text, r.ev_action::text
  from pg_class c join pg_rewrite r on r.ev_class = c.oid and r.rulename = '_RETURN'
  where c.oid ${OWN} and c.relkind in ('v', 'm') and c.relnamespace in (select oid from ${USER_SCHEMAS} s)
    and octet_length(r.ev_action::text) <= ${MAX_ACTION}
  order by c.oid`;

const CONSTRAINTS = `
  select k.conname as name, k.contype as type, k.conrelid::text as relation, k.confrelid::text as foreign_relation,
    k.conkey as columns, k.confkey as foreign_columns, k.conparentid <> 0 as inherited
  from pg_constraint k join pg_class c on c.oid = k.conrelid
  where k.oid ${OWN} and k.contype in ('p', 'u', 'f') and c.relnamespace in (select oid from ${USER_SCHEMAS} s)
  order by k.conrelid, k.conname`;

const ROUTINES = `
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
const HANDLERS = `
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
const REPRESENTATIONS = `
  select format_type(k.castsource, null) as source, format_type(k.casttarget, null) as target,
    n.nspname as schema, p.proname as name
  from pg_cast k join pg_type s on s.oid = k.castsource join pg_type t on t.oid = k.casttarget
    join pg_proc p on p.oid = k.castfunc join pg_namespace n on n.oid = p.pronamespace
  where k.castcontext = 'i' and k.castmethod = 'f'
    and (s.typtype = 'd' and t.oid in ('json'::regtype, 'text'::regtype)
      or t.typtype = 'd' and s.oid in ('json'::regtype, 'text'::regtype))`;

/**
 * The login role and all roles that it may switch to. Followed from the login role: a server with a thousand projects has
 * thousands of other roles.
 */
const OWN_ROLES = `
  recursive own_roles(oid) as (
    select oid from pg_roles where rolname = current_user
    union select m.roleid from pg_auth_members m join own_roles o on o.oid = m.member
  )`;

/**
 * Settings of roles (ALTER ROLE ... SET) that a request may apply: only those that need no privilege, and none that
 * Plinth's own statements or the reading of results depend on. No request runs as the login role. pg_settings takes milliseconds to
 * compute, so it is not joined but looked up for the settings found, which are mostly none.
 */
const ROLES = `
  with ${OWN_ROLES},
  found as materialized (
    select r.rolname, d.setdatabase, split_part(setting, '=', 1) as name, substr(setting, strpos(setting, '=') + 1) as value
    from own_roles o join pg_roles r on r.oid = o.oid, pg_db_role_setting d, unnest(d.setconfig) setting
    where d.setrole = o.oid and r.rolname <> current_user and octet_length(setting) <= ${MAX_SETTING}
      and d.setdatabase in (0, (select oid from pg_database where datname = current_database()))
  )
  select rolname as role, name, value from found
  where name not in ('role', 'session_authorization', 'search_path', 'client_encoding')
    and (select p.context from pg_settings p where p.name = found.name) = 'user'
  order by rolname, setdatabase, name`;

/**
 * Roles of requests that cannot read back the rows they write, so that RETURNING would make the write fail
 * (PostgreSQL manual, CREATE POLICY, table of policies by command). A role without a policy of its own may
 * inherit one.
 */
const WITHHELD = `
  with ${OWN_ROLES},
  roles as (
    select r.oid, r.rolname::text as name, r.rolsuper or r.rolbypassrls as bypasses
    from own_roles o join pg_roles r on r.oid = o.oid
    where r.rolname <> current_user and r.rolname !~ '^pg_'
  ),
  relations as (
    select oid, relowner, relrowsecurity from pg_class
    where relkind in ('r', 'v', 'f', 'p') and relnamespace in (select oid from ${USER_SCHEMAS} s)
  ),
  seen as (
    select distinct p.polrelid, r.oid as role from pg_policy p, unnest(p.polroles) o, roles r
    where p.polpermissive and p.polcmd in ('r', '*') and (o = 0 or pg_has_role(r.oid, o, 'USAGE'))
  )
  select c.oid::text as relation, array_agg(r.name order by r.name) filter (where hidden.yes) as hidden_from,
    array_agg(r.name order by r.name) filter (where closed.yes) as closed_to
  from relations c cross join roles r left join seen s on s.polrelid = c.oid and s.role = r.oid,
    lateral (select not has_table_privilege(r.oid, c.oid, 'SELECT') and exists (
      select from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        and not has_column_privilege(r.oid, c.oid, a.attnum, 'SELECT')) as yes) hidden,
    lateral (select c.relrowsecurity and s.role is null and not r.bypasses and not pg_has_role(r.oid, c.relowner, 'USAGE')
      as yes) closed
  where hidden.yes or closed.yes
  group by c.oid`;

/**
 * Types whose text output shows names of the system catalog: the aliases of oid, that is all types with a
 * binary cast to it except int4; aclitem, which prints names of roles; then arrays, domains, ranges and
 * composite types of these. Nearly every row type of the system catalog contains one, so all of those count.
 * build-catalog.ts adds the row types of the project's relations.
 */
const REVEALING = `
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

const ANNOUNCES = `
  select exists (select from pg_event_trigger where evtname = '${DDL_TRIGGER}' and evtenabled <> 'D') as announces_ddl`;

const TRAITS = `
  select exists (
    select from pg_proc p join ${USER_SCHEMAS} n on n.oid = p.pronamespace join pg_language l on l.oid = p.prolang
    where p.oid ${OWN} and p.prokind in ('f', 'p')
      and (p.prosrc ~ 'response\\.(headers|status)'
        or l.lanname = 'sql' and p.prosqlbody is not null and pg_get_functiondef(p.oid) ~ 'response\\.(headers|status)')
  ) as sets_response,
  ${MAY_READ_REQUEST} as reads_request, ${MAY_LEAVE_LOCKS} as leaves_locks`;

/** In doubt, code may do anything: requests then send statements that they could leave out. */
const UNKNOWN_TRAITS: CodeTraits = { setsResponse: true, readsRequest: true, leavesLocks: true };

@Injectable()
export class CatalogRepository {
  constructor(private readonly door: RlsTransaction) {}

  /**
   * One round trip with one snapshot, so that a function's row type is among the tables read.
   * @param onBegin called before the snapshot is taken
   */
  async read(database: ProjectDatabase, onBegin?: () => void): Promise<CatalogRows> {
    const texts = [
      QUALIFY_NAMES,
      FINGERPRINT,
      ANNOUNCES,
      RELATIONS,
      CONSTRAINTS,
      ROUTINES,
      HANDLERS,
      REPRESENTATIONS,
      ROLES,
      WITHHELD,
      REVEALING,
    ];
    const views: ViewRow[] = [];
    const takeViews: Statement = {
      text: VIEWS,
      sink: eachRow(([oid, action]) => views.push([String(oid), parseViewOrigins(String(action))])),
      maxBytes: MAX_ACTIONS,
    };
    const collected = texts.map((text) => ({ text, maxBytes: MAX_BYTES }));
    const results = await this.door.systemSnapshot(database, REASON, [...collected, takeViews], onBegin);
    const rows = <Row>(index: number): Row[] => (results[index]?.rows ?? []) as Row[];
    return {
      fingerprint: rows<{ fingerprint: string }>(1)[0]?.fingerprint ?? '',
      announcesDdl: rows<{ announces_ddl: boolean }>(2)[0]?.announces_ddl ?? false,
      ...UNKNOWN_TRAITS,
      relations: rows<RelationRow>(3),
      views,
      constraints: rows<ConstraintRow>(4),
      routines: rows<RoutineRow>(5),
      handlers: rows<HandlerRow>(6),
      representations: rows<RepresentationRow>(7),
      roles: rows<RoleRow>(8),
      withheld: rows<WithheldRow>(9),
      revealing: rows<RevealingRow>(10),
    };
  }

  /**
   * What the code in the database may do; all code is searched. Requests go first.
   * @throws DatabaseFault no_free_connection when the project has no connection
   */
  async readTraits(database: ProjectDatabase): Promise<CodeTraits> {
    const found = await this.door.systemAside(database, REASON, [
      { text: QUALIFY_NAMES },
      { text: TRAITS, maxBytes: MAX_BYTES },
    ]);
    const [row] = (found[1]?.rows ?? []) as Partial<Record<string, boolean>>[];
    return {
      setsResponse: row?.sets_response ?? true,
      readsRequest: row?.reads_request ?? true,
      leavesLocks: row?.leaves_locks ?? true,
    };
  }

  /** Cheap to read; differs if anything changed since a catalog was read. */
  async fingerprint(database: ProjectDatabase): Promise<string> {
    const { rows } = await this.door.systemQuery(database, REASON, {
      name: 'rest:fingerprint',
      text: FINGERPRINT,
    });
    return String(rows[0]?.fingerprint ?? '');
  }
}
