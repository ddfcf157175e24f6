/** Applications that sign in with accounts of the project (OAuth 2.1), and what users granted them. Runs again without harm. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class OAuthServer1790000001100 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table if not exists auth.oauth_clients (
        id uuid primary key,
        name text not null,
        -- SHA-256; null for a public client.
        secret_hash bytea check (length(secret_hash) = 32),
        auth_method text not null,
        -- 'manual' or 'dynamic'.
        registration text not null,
        redirect_uris text[] not null,
        grant_types text[] not null,
        client_uri text,
        logo_uri text,
        created_at timestamptz not null,
        updated_at timestamptz not null
      );
      create index if not exists oauth_clients_created_at on auth.oauth_clients (created_at, id);

      create table if not exists auth.oauth_consents (
        user_id uuid not null references auth.users (id) on delete cascade,
        client_id uuid not null references auth.oauth_clients (id) on delete cascade,
        scope text not null,
        granted_at timestamptz not null,
        primary key (user_id, client_id)
      );
      create index if not exists oauth_consents_client_id on auth.oauth_consents (client_id);

      -- Requests that a user has seen; the columns from code_hash to code_challenge are set when the user approves.
      create table if not exists auth.oauth_authorizations (
        id uuid primary key,
        user_id uuid not null references auth.users (id) on delete cascade,
        client_id uuid not null references auth.oauth_clients (id) on delete cascade,
        -- Of the user. The code ends with it.
        session_id uuid not null references auth.sessions (id) on delete cascade,
        expires_at timestamptz not null,
        code_hash bytea unique check (length(code_hash) = 32),
        redirect_uri text,
        scope text,
        nonce text,
        code_challenge text,
        -- When the code was used, or the user refused.
        spent_at timestamptz
      );
      create index if not exists oauth_authorizations_user_id on auth.oauth_authorizations (user_id);
      create index if not exists oauth_authorizations_client_id on auth.oauth_authorizations (client_id);
      create index if not exists oauth_authorizations_session_id on auth.oauth_authorizations (session_id);

      alter table auth.sessions
        -- The application that has the session; it ends with the client.
        add column if not exists oauth_client_id uuid references auth.oauth_clients (id) on delete cascade,
        add column if not exists oauth_scope text;
      create index if not exists sessions_oauth_client_id on auth.sessions (oauth_client_id)
        where oauth_client_id is not null;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table auth.sessions drop column oauth_client_id, drop column oauth_scope;
      drop table auth.oauth_authorizations, auth.oauth_consents, auth.oauth_clients;
    `);
  }
}
