/**
 * Schemas of a project's database and the functions that policies call. The global roles anon, authenticated and
 * service_role exist before. The event triggers need a superuser: src/projects/provisioning/event-triggers.ts.
 */
export const SCHEMAS = `
  revoke all on schema public from public;
  grant usage on schema public to anon, authenticated, service_role;
  create schema auth;
  create schema storage;
  create schema if not exists extensions;
  grant usage on schema auth, storage, extensions to anon, authenticated, service_role;
`;

export const CALLER_FUNCTIONS = `
  create function auth.jwt() returns jsonb language sql stable parallel safe
    return coalesce(nullif(pg_catalog.current_setting('request.jwt.claims', true), ''), '{}')::jsonb;

  -- Null when sub is no UUID: such a subject matches no row, where a failing cast would break every policy.
  -- PL/pgSQL, which the planner does not inline: auth.uid() appears several times in the policies of a statement, and each
  -- copy of the expressions below would be initialised even if it is never evaluated.
  create function auth.parsed_uid() returns uuid language plpgsql stable parallel safe set search_path = '' as $$
  declare
    sub constant text := auth.jwt() ->> 'sub';
  begin
    return case when sub ~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' then sub::uuid end;
  end $$;

  -- Plinth puts sub first in the claims when it is a UUID (src/access/claims-text.ts). Comparing the beginning of the text
  -- takes 2 microseconds, parsing the claims 11, and a bulk insert may call this once per row.
  create function auth.uid() returns uuid language sql stable parallel safe
    return case
      when pg_catalog.current_setting('request.jwt.claims', true)
           like ' {"sub":"________-____-____-____-____________"%'
      then pg_catalog.substr(pg_catalog.current_setting('request.jwt.claims', true), 10, 36)::uuid
      else auth.parsed_uid() end;

  create function auth.role() returns text language sql stable parallel safe
    return auth.jwt() ->> 'role';

  create function auth.email() returns text language sql stable parallel safe
    return auth.jwt() ->> 'email';
`;
