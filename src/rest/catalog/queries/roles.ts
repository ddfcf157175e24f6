/** Roles of requests: their settings, and the relations that they cannot read. */
import { REQUEST_ROLES } from '../../../database/platform/server-capabilities';
import { USER_SCHEMAS } from './scope';

const SHARED = `'{${REQUEST_ROLES.join(', ')}}'::name[]`;

/** Limit for the bytes of one setting; longer ones are not read. */
const MAX_SETTING = 8_192;

/** Roles of a project's own that count, besides those of all projects; further ones are left out, in order of their names. */
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
 * Settings of a project's own roles (ALTER ROLE ... SET) that a request may apply: only those that need no privilege, and none that
 * Plinth's own statements or the reading of results depend on. Settings of the roles that all projects share are never read: each
 * role may change its own settings, so every owner can change those of anon. pg_settings takes milliseconds to
 * compute, so it is not joined but looked up for the settings found, which are mostly none.
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
 * (PostgreSQL manual, CREATE POLICY, table of policies by command). A role without a policy of its own may
 * inherit one. The loops are role by role: PostgreSQL keeps the memberships of one role in memory, and those of a shared
 * role may be many.
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
