/**
 * Event triggers on DDL in a project's database: one notifies table REST that the schema changed, the other
 * closes new objects in `public` until a policy opens them. Only a superuser may create event triggers. Their
 * functions belong to the admin role: they also run for a superuser's DDL, so the owner must not be able to
 * replace them.
 */
import { Client } from 'pg';

/** Channel on which DDL is announced in each project's database. */
export const DDL_CHANNEL = 'plinth_ddl';

/** The trigger that announces it. */
export const DDL_TRIGGER = 'plinth_announce_ddl';

/** Increase it with every change below: new projects get the change through a new template. */
export const EVENT_TRIGGERS_REVISION = 1;

/** Idempotent. The admin role's search_path is fixed, so that names never resolve to the owner's objects. */
export async function installEventTriggers(client: Client): Promise<void> {
  await client.query(`
    set search_path = pg_catalog;
    create schema if not exists plinth;
    revoke all on schema plinth from public;

    create or replace function plinth.announce_ddl() returns event_trigger
      language plpgsql set search_path = pg_catalog as $$
    begin
      perform pg_notify('${DDL_CHANNEL}', '');
    end $$;

    -- Tables: row-level security is enabled. Views: the caller's rights apply, not the owner's (from PostgreSQL 15 on;
    -- before, and for relations without row-level security, the grants of the client roles are revoked).
    create or replace function plinth.close_new_relation() returns event_trigger
      language plpgsql set search_path = pg_catalog as $$
    declare
      item record;
      has_option boolean;
    begin
      if coalesce(current_setting('plinth.auto_rls', true), '') = 'off' then
        return;
      end if;
      for item in
        select c.objid, c.object_identity, r.relkind
        from pg_event_trigger_ddl_commands() c join pg_class r on r.oid = c.objid
        where c.classid = 'pg_class'::regclass and c.schema_name = 'public' and not c.in_extension
      loop
        if item.relkind in ('r', 'p') then
          execute format('alter table %s enable row level security', item.object_identity);
        elsif item.relkind = 'v' and current_setting('server_version_num')::int >= 150000 then
          select exists (select from pg_options_to_table(reloptions) where option_name = 'security_invoker')
            into has_option from pg_class where oid = item.objid;
          if not has_option then
            execute format('alter view %s set (security_invoker = on)', item.object_identity);
          end if;
        elsif item.relkind in ('v', 'm', 'f') then
          execute format('revoke all on %s from anon, authenticated', item.object_identity);
        end if;
      end loop;
    end $$;

    do $$
    begin
      if not exists (select from pg_event_trigger where evtname = '${DDL_TRIGGER}') then
        create event trigger ${DDL_TRIGGER} on ddl_command_end execute function plinth.announce_ddl();
        create event trigger plinth_announce_drop on sql_drop execute function plinth.announce_ddl();
        create event trigger plinth_close_new_relation on ddl_command_end
          when tag in ('CREATE TABLE', 'CREATE TABLE AS', 'SELECT INTO', 'CREATE VIEW', 'CREATE MATERIALIZED VIEW',
                       'CREATE FOREIGN TABLE', 'IMPORT FOREIGN SCHEMA')
          execute function plinth.close_new_relation();
      end if;
    end $$;
    reset search_path;
  `);
}
