/**
 * Event triggers on DDL in a project's database: they notify table REST that the schema changed, close new objects in
 * `public` until a policy opens them, and translate policies of storage.objects. Only a superuser may create event
 * triggers. Their functions belong to the admin role: they also run for a superuser's DDL, so the owner must not be
 * able to replace them.
 */
import { Client } from 'pg';
import { POLICY_FUNCTIONS } from './supabase-policies';

/** Channel on which DDL is announced in each project's database. */
export const DDL_CHANNEL = 'plinth_ddl';

/** The trigger that announces it. */
export const DDL_TRIGGER = 'plinth_announce_ddl';

/** Increase it with every change below: new projects get the change through a new template. */
export const EVENT_TRIGGERS_REVISION = 3;

const TRIGGERS: Readonly<Record<string, string>> = {
  [DDL_TRIGGER]: 'ddl_command_end execute function plinth.announce_ddl()',
  plinth_announce_drop: 'sql_drop execute function plinth.announce_ddl()',
  plinth_close_new_relation: `ddl_command_end
    when tag in ('CREATE TABLE', 'CREATE TABLE AS', 'SELECT INTO', 'CREATE VIEW', 'CREATE MATERIALIZED VIEW',
                 'CREATE FOREIGN TABLE', 'IMPORT FOREIGN SCHEMA')
    execute function plinth.close_new_relation()`,
  plinth_begin_policy: `ddl_command_start when tag in ('CREATE POLICY', 'DROP POLICY') execute function plinth.begin_policy()`,
  plinth_end_policy: `ddl_command_end when tag in ('CREATE POLICY', 'DROP POLICY') execute function plinth.end_policy()`,
};

const creation = ([name, definition]: [string, string]): string =>
  `if not exists (select from pg_event_trigger where evtname = '${name}') then
        create event trigger ${name} on ${definition};
      end if;`;

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

    ${POLICY_FUNCTIONS}

    do $$
    begin
      ${Object.entries(TRIGGERS).map(creation).join('\n      ')}
    end $$;
    reset search_path;
  `);
}

/** For an upgrade. A database without event triggers stays so: its owner might have made the schema for their functions. */
export async function renewEventTriggers(client: Client): Promise<void> {
  const { rowCount } = await client.query('select from pg_catalog.pg_event_trigger where evtname = $1', [
    DDL_TRIGGER,
  ]);
  if (rowCount !== 0) await installEventTriggers(client);
}
