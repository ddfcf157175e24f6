/**
 * Finds out what the code in a project's database (functions, policies, views, defaults, constraints ...) may
 * read or leave behind. Requests then skip the statements that only such code needs. If it is not certain,
 * the answer is true: code that composes SQL at run time, or is written in another language than SQL and
 * PL/pgSQL, could do anything. C code comes with extensions, which a superuser has approved.
 */

/**
 * Objects with a lower oid come with PostgreSQL (manual, "System Catalog Initial Data"); owners cannot change
 * them.
 */
export const FIRST_NORMAL_OID = 16384;

/** Matches a read of a setting by a literal name outside `request.`. */
const OTHER_SETTING =
  `current_setting\\s*\\(\\s*''(?!request\\.(?:method|path|headers|cookies))[a-z_.]+''(?:::text)?` +
  `\\s*(?:,\\s*(?:true|false)\\s*)?\\)`;

/** Matches code that executes text as SQL, or an identifier written with Unicode escapes. */
const DYNAMIC_SQL = '\\mexecute\\M|_to_xml|u&"';

/** Regular expressions over source code, not case-sensitive. */
const READS_SETTINGS = `setting|\\mshow\\M|${DYNAMIC_SQL}`;
const TAKES_LOCKS_OR_TEMPORARY = `advisory|temp|${DYNAMIC_SQL}`;

/** PostgreSQL's functions that execute text as SQL. */
const SQL_RUNNERS = ['query', 'cursor', 'table', 'schema', 'database'].flatMap((what) => [
  `${what}_to_xml`,
  `${what}_to_xmlschema`,
  `${what}_to_xml_and_xmlschema`,
]);
const SETTING_READERS = ['current_setting', 'pg_show_all_settings', ...SQL_RUNNERS];
const LOCK_TAKERS = [
  'pg_advisory_lock',
  'pg_advisory_lock_shared',
  'pg_try_advisory_lock',
  'pg_try_advisory_lock_shared',
  ...SQL_RUNNERS,
];

/**
 * Source of functions (but not of event triggers: no request runs DDL), and of expressions that call one of the
 * `built_in` functions.
 */
const CODE = `
  select p.prosrc as source from pg_proc p
    where p.oid >= ${FIRST_NORMAL_OID} and p.prosqlbody is null and p.prorettype <> 'event_trigger'::regtype
      and p.prolang in (select oid from pg_language where lanname in ('sql', 'plpgsql'))
  union all
  select case when p.prosqlbody::text ~ calls then pg_get_functiondef(p.oid) end from pg_proc p, built_in
    where p.oid >= ${FIRST_NORMAL_OID} and p.prosqlbody is not null
  union all
  select pg_get_expr(p.polqual, p.polrelid) from pg_policy p, built_in where p.polqual::text ~ calls
  union all
  select pg_get_expr(p.polwithcheck, p.polrelid) from pg_policy p, built_in where p.polwithcheck::text ~ calls
  union all
  select pg_get_expr(d.adbin, d.adrelid) from pg_attrdef d, built_in where d.adbin::text ~ calls
  union all
  select pg_get_constraintdef(k.oid) from pg_constraint k, built_in where k.oid >= ${FIRST_NORMAL_OID} and k.conbin::text ~ calls
  union all
  select pg_get_ruledef(r.oid) from pg_rewrite r, built_in where r.oid >= ${FIRST_NORMAL_OID} and r.ev_action::text ~ calls`;

/** Whether an object whose source is not part of CODE calls one of the `built_in` functions. */
const ELSEWHERE = `
  exists (select from pg_proc p join pg_language l on l.oid = p.prolang
    where p.oid >= ${FIRST_NORMAL_OID} and l.lanname not in ('internal', 'c', 'sql', 'plpgsql'))
  or exists (select from pg_proc p, built_in where p.oid >= ${FIRST_NORMAL_OID}
    and (p.proargdefaults::text ~ calls or p.prosrc = any (sources)))
  or exists (select from pg_index i, built_in where i.indexprs::text ~ calls or i.indpred::text ~ calls)
  or exists (select from pg_trigger t, built_in where t.tgqual::text ~ calls)
  or exists (select from pg_type t, built_in where t.oid >= ${FIRST_NORMAL_OID} and t.typdefaultbin::text ~ calls)
  or exists (select from pg_rewrite r, built_in where r.oid >= ${FIRST_NORMAL_OID} and r.ev_qual::text ~ calls)
  or exists (select from pg_partitioned_table p, built_in where p.partexprs::text ~ calls)
  or exists (select from pg_aggregate a, built_in where a.aggfnoid >= ${FIRST_NORMAL_OID}
    and (a.aggtransfn = any (oids) or a.aggfinalfn = any (oids)))
  or exists (select from pg_operator o, built_in where o.oid >= ${FIRST_NORMAL_OID} and o.oprcode = any (oids))
  or exists (select from pg_cast k, built_in where k.oid >= ${FIRST_NORMAL_OID} and k.castfunc = any (oids))`;

/**
 * SQL: whether code calls one of the built-in functions, or matches a pattern.
 * @param source SQL expression for the text to match
 */
function mayDo(pattern: string, builtIn: readonly string[], source = 'source'): string {
  return `(
    with built_in as materialized (
      select array_agg(oid) as oids, array_agg(prosrc) as sources,
        'funcid (' || string_agg(oid::text, '|') || ')\\M' as calls
      from pg_proc where pronamespace = 'pg_catalog'::regnamespace and proname in ('${builtIn.join("', '")}')
    ),
    code as (${CODE})
    select exists (select from code where ${source} ~* '${pattern}') or ${ELSEWHERE}
  )`;
}

/** SQL: whether code may read request.method, request.path, request.headers or request.cookies. */
export const MAY_READ_REQUEST = mayDo(
  READS_SETTINGS,
  SETTING_READERS,
  `regexp_replace(source, '${OTHER_SETTING}', '', 'gi')`,
);

/** SQL: whether code may keep an advisory lock or a temporary table beyond its transaction. */
export const MAY_LEAVE_LOCKS = mayDo(TAKES_LOCKS_OR_TEMPORARY, LOCK_TAKERS);
