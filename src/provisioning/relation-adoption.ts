/**
 * SQL that replaces event triggers and BYPASSRLS on servers where Plinth cannot have them. It closes new
 * relations in `public` as close_new_relation() would (event-triggers.ts), and only then grants the client
 * roles their privileges. A policy opens tables with row-level security to service_role. Idempotent.
 *
 * A relation counts as adopted once service_role has the TRIGGER privilege on it, which the default
 * privileges there leave out (database-provisioner.ts). The privilege survives renames, dumps and restores,
 * so later changes by the owner, such as disabling row-level security, are kept. Until then the client roles
 * have REFERENCES, a privilege that is of no use to them: a role without it was refused by the owner in the
 * script that created the table, and gets none.
 */

/** Name of the policy that replaces BYPASSRLS. */
const SERVICE_POLICY = 'plinth_service_role';

const PENDING = `
  select c.oid, c.oid::regclass::text as identity, c.relkind,
    n.nspname = 'public' and not exists (select from pg_event_trigger where evtname = 'plinth_close_new_relation')
      and not has_table_privilege('service_role', c.oid, 'TRIGGER') as to_close,
    c.relkind in ('r', 'p') and (select not rolbypassrls from pg_roles where rolname = 'service_role')
      and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = '${SERVICE_POLICY}') as to_open
  from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_database d on d.datname = current_database()
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and pg_has_role(d.datdba, c.relowner, 'USAGE')
    and n.nspname !~ '^pg_' and n.nspname not in ('information_schema', 'auth', 'extensions', 'plinth', 'plinth_migrations')`;

/** Checks, as any role of the database, whether there are relations to adopt. */
export const HAS_PENDING = `select exists (select from (${PENDING}) as relation where to_close or to_open) as pending`;

/** Sets whether ADOPT, later in the same session, closes new tables: `on` or `off` (setting auto_rls). */
export const SET_AUTO_RLS = `select set_config('plinth.auto_rls', $1, false)`;

/** Runs as the owner, in one transaction. */
export const ADOPT = `
do $adopt$
declare
  item record;
  closes boolean := coalesce(current_setting('plinth.auto_rls', true), '') <> 'off';
  invoker_views boolean := current_setting('server_version_num')::int >= 150000;
  clients text;
begin
  -- A second process waits here, and then finds nothing to do.
  perform pg_advisory_xact_lock(7046104);
  perform set_config('search_path', '', true);
  for item in ${PENDING} loop
    if item.to_close then
      select string_agg(role, ', ') into clients from unnest(array['anon', 'authenticated']) as role
        where has_table_privilege(role, item.oid, 'REFERENCES');
      if clients is not null then
        execute format('revoke references on table %s from %s', item.identity, clients);
      end if;
      if item.relkind in ('r', 'p') and closes then
        execute format('alter table %s enable row level security', item.identity);
      elsif item.relkind = 'v' and invoker_views and closes then
        if not exists (select from pg_class c, pg_options_to_table(c.reloptions) o
                       where c.oid = item.oid and o.option_name = 'security_invoker') then
          execute format('alter view %s set (security_invoker = on)', item.identity);
        end if;
      elsif closes then
        clients := null;
      end if;
      if clients is not null then
        execute format('grant select, insert, update, delete on table %s to %s', item.identity, clients);
      end if;
      execute format('grant all on table %s to service_role', item.identity);
    end if;
    if item.to_open then
      execute format('create policy ${SERVICE_POLICY} on %s to service_role using (true) with check (true)', item.identity);
    end if;
  end loop;
end $adopt$`;
