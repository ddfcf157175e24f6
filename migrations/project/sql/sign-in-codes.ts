/** Codes in mails, PKCE, anonymous users, and the ways in which a session was signed in. */
export const SIGN_IN_CODES = `
  -- An anonymous user has the address '' and no key.
  alter table auth.users alter column email_key drop not null;
  alter table auth.users
    add column if not exists is_anonymous boolean not null default false,
    -- JSON about the user that only the service-role key changes.
    add column if not exists app_data jsonb not null default '{}';
  create index if not exists users_anonymous on auth.users (created_at) where is_anonymous;

  create or replace function auth.complete_user() returns trigger language plpgsql as $$
  begin
    new.email_key := coalesce(new.email_key, nullif(pg_catalog.lower(new.email), ''));
    new.name := coalesce(new.name, pg_catalog.split_part(new.email, '@', 1));
    return new;
  end $$;

  -- [{"method": "password", "timestamp": 1767225600}], the newest first (RFC 8176).
  alter table auth.sessions add column if not exists amr jsonb not null default '[]';

  alter table auth.mailed_tokens
    -- HMAC of the code in the mail; null once it has had too many wrong guesses.
    add column if not exists code_hash bytea,
    add column if not exists code_attempts integer not null default 0,
    -- PKCE (RFC 7636): only the client that asked for the mail can exchange the code that the link gives.
    add column if not exists code_challenge text,
    add column if not exists code_challenge_method text;
  alter table auth.mailed_tokens drop constraint if exists mailed_tokens_kind_check;
  alter table auth.mailed_tokens add constraint mailed_tokens_kind_check
    check (kind in ('reset', 'verify', 'email_change', 'invite', 'magic_link', 'reauthentication'));
  create index if not exists mailed_tokens_email_key on auth.mailed_tokens (email_key);

  -- Codes that a client exchanges for a session with its PKCE verifier.
  create table if not exists auth.exchange_codes (
    code_hash bytea primary key check (length(code_hash) = 32),
    user_id uuid not null references auth.users (id) on delete cascade,
    -- How the user signed in.
    method text not null,
    code_challenge text not null,
    code_challenge_method text not null,
    expires_at timestamptz not null
  );
  create index if not exists exchange_codes_user_id on auth.exchange_codes (user_id);
`;
