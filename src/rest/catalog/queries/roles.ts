/** Roles of requests: their settings, and the relations that they cannot read. */
import { USER_SCHEMAS } from './scope';

/** Limit for the bytes of one setting; longer ones are not read. */
const MAX_SETTING = 8_192;

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
export const ROLES = `
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
export const WITHHELD = `
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
