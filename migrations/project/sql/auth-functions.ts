/** The session check of each request, the trigger that completes imported users, and the hook for custom claims. */
export const AUTH_FUNCTIONS = `
  -- Completes rows that the owner imports with SQL; Plinth itself always sets all three columns.
  create function auth.complete_user() returns trigger language plpgsql as $$
  begin
    new.email_key := coalesce(new.email_key, pg_catalog.lower(new.email));
    new.name := coalesce(new.name, pg_catalog.split_part(new.email, '@', 1));
    return new;
  end $$;
  create trigger complete_user before insert on auth.users for each row execute function auth.complete_user();

  -- Called first in the statement of every request whose token names a session. The API maps PL401 to status 401.
  create function auth.require_session(session uuid) returns void language plpgsql stable as $$
  begin
    perform from auth.sessions s join auth.users u on u.id = s.user_id
      where s.id = session and s.revoked_at is null and s.expires_at > now()
        and (u.banned_until is null or u.banned_until <= now());
    if not found then
      raise exception 'the session is over' using errcode = 'PL401';
    end if;
  end $$;

  -- The same for a token of one factor. PL403 if the project requires a second one: from users who have set one up
  -- ('enrolled') or from all ('always').
  create function auth.require_session(session uuid, second_factor text) returns void language plpgsql stable as $$
  declare
    owner uuid;
  begin
    select s.user_id into owner from auth.sessions s join auth.users u on u.id = s.user_id
      where s.id = session and s.revoked_at is null and s.expires_at > now()
        and (u.banned_until is null or u.banned_until <= now());
    if not found then
      raise exception 'the session is over' using errcode = 'PL401';
    end if;
    if second_factor = 'always'
      or exists (select from auth.factors f where f.user_id = owner and f.verified_at is not null) then
      raise exception 'a second factor is needed' using errcode = 'PL403';
    end if;
  end $$;

  -- A project replaces this function to add claims to access tokens ("create or replace", "security definer" if it reads
  -- tables). Claims that Plinth sets cannot be overridden.
  create function auth.custom_claims(user_id uuid) returns jsonb language sql stable as $$ select '{}'::jsonb $$;
`;
