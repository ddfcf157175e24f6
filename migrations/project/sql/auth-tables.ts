/**
 * Accounts, sessions, mailed tokens, outgoing mails, second factors and the audit log of a project. Only the
 * login role reads and writes them (src/auth); anon, authenticated and service_role have no privileges on them.
 */
export const AUTH_TABLES = `
  create table auth.users (
    id uuid primary key default gen_random_uuid(),
    email text not null check (length(email) <= 320),
    -- The normalised address: lower case, the domain in ASCII (src/auth/accounts/email-address.ts).
    email_key text not null,
    encrypted_password text,
    name text not null check (length(name) <= 320),
    data jsonb not null default '{}',
    email_verified_at timestamptz,
    banned_until timestamptz,
    invited_at timestamptz,
    last_sign_in_at timestamptz,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
  );
  create unique index users_email_key on auth.users (email_key);
  create index users_created_at on auth.users (created_at, id);

  create table auth.sessions (
    id uuid primary key,
    user_id uuid not null references auth.users (id) on delete cascade,
    created_at timestamptz not null,
    -- The last use of the refresh token, shown as "last seen".
    refreshed_at timestamptz not null,
    -- The number of rotations. The valid refresh token carries it.
    refresh_count integer not null default 0,
    expires_at timestamptz not null,
    revoked_at timestamptz,
    aal text not null default 'aal1',
    ip text,
    user_agent text
  );
  create index sessions_user_id on auth.sessions (user_id);

  -- One row per user and kind: a new token replaces the old one and so invalidates it.
  create table auth.mailed_tokens (
    user_id uuid not null references auth.users (id) on delete cascade,
    kind text not null check (kind in ('reset', 'verify', 'email_change', 'invite')),
    token_hash bytea not null unique check (length(token_hash) = 32),
    -- The address that the token proves; for email_change the new one.
    email text not null,
    email_key text not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    primary key (user_id, kind)
  );

  -- Written with the token in one transaction; a job has its id only (src/auth/mail).
  create table auth.outgoing_mails (
    id uuid primary key,
    user_id uuid not null references auth.users (id) on delete cascade,
    kind text not null,
    recipient text not null,
    -- The values of the template, the token included: AES-256-GCM under MASTER_KEY, erased once the mail is sent.
    sealed bytea,
    created_at timestamptz not null,
    -- The mail is not sent after this time.
    expires_at timestamptz not null,
    attempts integer not null default 0,
    sent_at timestamptz,
    failed_at timestamptz,
    last_error text,
    -- When a worker last processed the mail.
    handled_at timestamptz
  );
  create index outgoing_mails_created_at on auth.outgoing_mails (created_at);
  create index outgoing_mails_unsent on auth.outgoing_mails (coalesce(handled_at, created_at)) where sent_at is null;

  create table auth.audit_log (
    id bigint generated always as identity primary key,
    at timestamptz not null,
    action text not null,
    -- Id of the acting user; null for the service-role key and for anonymous requests.
    actor_id uuid,
    actor_role text not null,
    user_id uuid,
    ip text,
    user_agent text,
    details jsonb not null default '{}'
  );
  create index audit_log_at on auth.audit_log (at);
  create index audit_log_user_id on auth.audit_log (user_id, id);

  create table auth.factors (
    id uuid primary key,
    user_id uuid not null references auth.users (id) on delete cascade,
    kind text not null default 'totp' check (kind in ('totp')),
    name text not null check (length(name) <= 320),
    -- AES-256-GCM under MASTER_KEY, bound to project and factor.
    sealed_secret bytea not null,
    created_at timestamptz not null,
    -- Null until the user has confirmed the factor with a code.
    verified_at timestamptz,
    last_used_at timestamptz,
    -- Time step of the last accepted code. It and all older ones are invalid (RFC 6238, 5.2).
    last_step bigint not null default 0
  );
  create index factors_user_id on auth.factors (user_id);
`;
