/**
 * Lets the owner of a project create and drop policies on storage.objects, as Supabase's migrations do, although it is a view
 * here. While such a command runs, a table with Supabase's columns takes the view's place. PostgreSQL itself then finds the
 * columns in the conditions, which become conditions of storage.files.
 */
import { quoteLiteral } from '../database/sql/identifier';

/** Columns of Supabase's storage.objects: their types, and their equivalents in storage.files. */
export const OBJECT_COLUMNS: Readonly<Record<string, readonly [type: string, here: string]>> = {
  id: ['uuid', 'files.id'],
  bucket_id: ['text', 'storage.bucket_name(files.bucket_id)'],
  name: ['text', 'files.filename'],
  owner: ['uuid', 'files.owner_id'],
  owner_id: ['text', '(files.owner_id)::text'],
  created_at: ['timestamptz', 'files.created_at'],
  updated_at: ['timestamptz', 'files.updated_at'],
  last_accessed_at: ['timestamptz', 'files.updated_at'],
  metadata: ['jsonb', `(jsonb_build_object('size', files.size, 'mimetype', files.content_type))`],
  path_tokens: ['text[]', `(string_to_array(files.filename, '/'::text))`],
  version: ['text', '(files.object_id)::text'],
  user_metadata: ['jsonb', 'files.metadata'],
  level: ['int', `cardinality(string_to_array(files.filename, '/'::text))`],
};

const columns = Object.entries(OBJECT_COLUMNS);
/** The name of a column while its uses are replaced. */
const markOf = (at: number): string => `plinth_column_${at}_`;

/** True while the functions below run commands of their own. */
const IS_TRANSLATING = `coalesce(current_setting('plinth.translating', true), '') = 'on'`;
const SET_TRANSLATING = `perform set_config('plinth.translating', 'on', true)`;
const RESET_TRANSLATING = `perform set_config('plinth.translating', '', true)`;

/** SQL: the policies of a table that another one lacks. */
const policiesOnlyOf = (table: string, other: string): string =>
  `pg_policy p where p.polrelid = '${table}'::regclass and not exists (
     select from pg_policy o where o.polrelid = '${other}'::regclass and o.polname = p.polname)`;

const replaced = (mark: string, here: string): string =>
  `command := replace(replace(command, 'objects.${mark}', ${here}), '${mark}', ${here});`;

/**
 * SQL: the functions of the event triggers. They run with the rights of the role whose command it is, and do nothing for a
 * superuser, since they execute what the owner of the project wrote.
 */
export const POLICY_FUNCTIONS = `
  create or replace function plinth.begin_policy() returns event_trigger
    language plpgsql set search_path = pg_catalog as $$
  declare
    name text;
  begin
    if current_query() !~* '\\mstorage"?\\s*\\.\\s*"?objects\\M' or ${IS_TRANSLATING}
        or (select rolsuper from pg_roles where rolname = current_user)
        or not exists (select from pg_class where oid = to_regclass('storage.objects') and relkind = 'v') then
      return;
    end if;
    ${SET_TRANSLATING};
    alter view storage.objects rename to plinth_objects;
    create table storage.objects (${columns.map(([name, [type]]) => `${name} ${type}`).join(', ')});
    -- A name that exists is refused, and one to drop is found.
    for name in select polname from pg_policy where polrelid = 'storage.files'::regclass loop
      execute format('create policy %I on storage.objects', name);
    end loop;
    ${RESET_TRANSLATING};
  end $$;

  create or replace function plinth.end_policy() returns event_trigger
    language plpgsql set search_path = pg_catalog as $$
  declare
    commands text[];
    command text;
  begin
    if ${IS_TRANSLATING} or (select rolsuper from pg_roles where rolname = current_user)
        or to_regclass('storage.plinth_objects') is null then
      return;
    end if;
    ${SET_TRANSLATING};
    ${columns.map(([name], at) => `alter table storage.objects rename ${name} to ${markOf(at)};`).join('\n    ')}
    -- The same SQL may also create and drop policies of storage.files.
    if tg_tag = 'DROP POLICY' then
      commands := array(
        select format('drop policy %I on storage.files', p.polname)
        from ${policiesOnlyOf('storage.files', 'storage.objects')});
    else
      commands := array(
        select format('create policy %I on storage.files as %s for %s to %s', p.polname,
            case when p.polpermissive then 'permissive' else 'restrictive' end,
            case p.polcmd when 'r' then 'select' when 'a' then 'insert' when 'w' then 'update' when 'd' then 'delete' else 'all' end,
            coalesce((select string_agg(quote_ident(rolname), ', ') from pg_roles where oid = any (p.polroles)), 'public'))
          || coalesce(' using (' || pg_get_expr(p.polqual, p.polrelid) || ')', '')
          || coalesce(' with check (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')', '')
        from ${policiesOnlyOf('storage.objects', 'storage.files')});
    end if;
    drop table storage.objects;
    alter view storage.plinth_objects rename to objects;
    foreach command in array commands loop
      -- Inside a subquery a column is qualified by its table.
      ${columns.map(([, [, here]], at) => replaced(markOf(at), quoteLiteral(here))).join('\n      ')}
      execute command;
    end loop;
    ${RESET_TRANSLATING};
  end $$;`;
