/**
 * Accounts, sessions, mailed tokens, outgoing mails and the audit trail of a project. Only the login role reads and
 * writes them (src/auth/*.repository.ts); nothing here is granted to anon, authenticated or service_role.
 */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class Auth1790000000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table auth.users (
        id uuid primary key default gen_random_uuid(),
        email text not null check (length(email) <= 320),
        -- What addresses are compared by: lower case, the domain in ASCII. See src/auth/email-address.ts.
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

      -- For rows that the owner imports with SQL; Plinth itself always gives all three.
      create function auth.complete_user() returns trigger language plpgsql as $$
      begin
        new.email_key := coalesce(new.email_key, pg_catalog.lower(new.email));
        new.name := coalesce(new.name, pg_catalog.split_part(new.email, '@', 1));
        return new;
      end $$;
      create trigger complete_user before insert on auth.users for each row execute function auth.complete_user();

      create table auth.sessions (
        id uuid primary key,
        user_id uuid not null references auth.users (id) on delete cascade,
        created_at timestamptz not null,
        -- The last use of the refresh token; also what "last seen" shows.
        refreshed_at timestamptz not null,
        -- How often the refresh token was rotated: the number that the valid one carries.
        refresh_count integer not null default 0,
        expires_at timestamptz not null,
        revoked_at timestamptz,
        aal text not null default 'aal1',
        ip text,
        user_agent text
      );
      create index sessions_user_id on auth.sessions (user_id);

      -- One row a user and kind: a newer token takes the place of the older one, which is thereby spent.
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

      -- Written with the token in one transaction; the job that sends the mail was queued before (src/auth/mail).
      create table auth.outgoing_mails (
        id uuid primary key,
        user_id uuid not null references auth.users (id) on delete cascade,
        kind text not null,
        recipient text not null,
        -- What the template shows, the token included: AES-256-GCM under MASTER_KEY, erased when the mail is sent.
        sealed bytea,
        created_at timestamptz not null,
        -- When the mail has lost its purpose.
        expires_at timestamptz not null,
        attempts integer not null default 0,
        sent_at timestamptz,
        failed_at timestamptz,
        last_error text
      );
      create index outgoing_mails_created_at on auth.outgoing_mails (created_at);

      create table auth.audit_log (
        id bigint generated always as identity primary key,
        at timestamptz not null,
        action text not null,
        -- Who did it: a user's id, or null for the service-role key and for somebody who is not signed in.
        actor_id uuid,
        actor_role text not null,
        user_id uuid,
        ip text,
        user_agent text,
        details jsonb not null default '{}'
      );
      create index audit_log_at on auth.audit_log (at);
      create index audit_log_user_id on auth.audit_log (user_id, id);

      -- Called first in every request's own statement when its token names a session. PL401 becomes a 401.
      create function auth.require_session(session uuid) returns void language plpgsql stable as $$
      begin
        perform from auth.sessions s join auth.users u on u.id = s.user_id
          where s.id = session and s.revoked_at is null and s.expires_at > now()
            and (u.banned_until is null or u.banned_until <= now());
        if not found then
          raise exception 'the session is over' using errcode = 'PL401';
        end if;
      end $$;

      -- A project replaces this function to add claims to access tokens: create or replace, security definer if it
      -- reads tables of its own. Claims that Plinth sets itself cannot be changed.
      create function auth.custom_claims(user_id uuid) returns jsonb language sql stable as $$ select '{}'::jsonb $$;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop function auth.custom_claims(uuid);
      drop function auth.require_session(uuid);
      drop table auth.audit_log, auth.outgoing_mails, auth.mailed_tokens, auth.sessions, auth.users;
      drop function auth.complete_user();
    `);
  }
}
