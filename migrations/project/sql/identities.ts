/** Identities of users at providers, and the providers of the project. */
export const IDENTITIES = `
  create table if not exists auth.providers (
    name text primary key check (name ~ '^[a-z][a-z0-9_:-]{0,62}$'),
    -- How the provider is spoken to: oidc, google, azure, apple, github, gitlab, keycloak, okta, auth0.
    preset text not null,
    enabled boolean not null default true,
    -- {"client_id", "issuer", "url", "tenant", "domain", "scopes", "additional_client_ids"}
    settings jsonb not null,
    -- AES-256-GCM, bound to the provider and its addresses.
    sealed_secret bytea,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
  );

  create table if not exists auth.identities (
    id uuid primary key,
    user_id uuid not null references auth.users (id) on delete cascade,
    provider text not null,
    -- A provider that is pointed to another issuer has other identities.
    issuer text not null,
    -- The id of the user at the issuer.
    subject text not null check (length(subject) between 1 and 255),
    -- Claims of the last sign-in.
    data jsonb not null,
    last_sign_in_at timestamptz,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    unique (provider, issuer, subject)
  );
  create index if not exists identities_user_id on auth.identities (user_id);

  -- Sign-ins at providers that were completed: the state of each works once.
  create table if not exists auth.used_states (
    id uuid primary key,
    expires_at timestamptz not null
  );

  -- An identity that the exchange links, and tokens of the provider, encrypted.
  alter table auth.exchange_codes add column if not exists sealed bytea;
`;
