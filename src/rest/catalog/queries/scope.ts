/** Parts that several queries share. */
import { FIRST_NORMAL_OID } from '../code-traits';

/** Schemas that are never part of the catalog. */
export const USER_SCHEMAS = `(select oid, nspname from pg_namespace
  where nspname !~ '^pg_' and nspname not in ('information_schema', 'plinth', 'plinth_migrations'))`;

/**
 * Objects of these schemas have oids from here on: PostgreSQL's own come before them. The condition lets PostgreSQL read a few rows
 * by an index instead of a whole table of the system catalog.
 */
export const OWN = `>= ${FIRST_NORMAL_OID}`;

/** With an empty search_path, format_type() qualifies every name that is not built in. */
export const QUALIFY_NAMES = `select set_config('search_path', '', true)`;

/** The base types of domains, below nested ones, with the length that the innermost one declares. */
export const BASE_TYPES = `
  recursive domains(oid, base, typmod, depth) as (
    select oid, typbasetype, typtypmod, 1 from pg_type where typtype = 'd'
    union all
    select d.oid, t.typbasetype, t.typtypmod, d.depth + 1 from domains d join pg_type t on t.oid = d.base
    where t.typtype = 'd'
  ),
  bottoms as materialized (select distinct on (oid) oid, base, typmod from domains order by oid, depth desc)`;
