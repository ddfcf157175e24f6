/** Phones with which users sign in, and phones as second factors. Runs again without harm. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class Phones1790000001061 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table auth.users
        -- E.164 without the plus sign. Its owner has proved it: it is stored with the first correct code.
        add column if not exists phone text,
        add column if not exists phone_verified_at timestamptz;
      create unique index if not exists users_phone on auth.users (phone);

      alter table auth.factors
        drop constraint if exists factors_kind_check,
        add constraint factors_kind_check check (kind in ('totp', 'webauthn', 'phone')),
        add column if not exists phone text;

      create table if not exists auth.phone_codes (
        -- What the code is for, with the phone or the factor.
        id text primary key,
        phone text not null,
        -- Whose phone it becomes; null for a sign-in.
        user_id uuid references auth.users (id) on delete cascade,
        code_hash bytea not null,
        attempts integer not null default 0,
        -- Of the account that a sign-in creates.
        account jsonb,
        expires_at timestamptz not null
      );
      create index if not exists phone_codes_user_id on auth.phone_codes (user_id);

      -- Somebody else may have created an account whose address was not proved, and have added a phone to it.
      create or replace function auth.drop_unproved_phone() returns trigger language plpgsql as $$
      begin
        new.phone := null;
        new.phone_verified_at := null;
        return new;
      end $$;
      drop trigger if exists drop_unproved_phone on auth.users;
      create trigger drop_unproved_phone before update of email_verified_at on auth.users for each row
        when (old.email <> '' and old.email_verified_at is null and new.email_verified_at is not null and old.phone is not null)
        execute function auth.drop_unproved_phone();
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop trigger drop_unproved_phone on auth.users;
      drop function auth.drop_unproved_phone();
      drop table auth.phone_codes;
      delete from auth.factors where kind = 'phone';
      alter table auth.factors
        drop constraint factors_kind_check,
        add constraint factors_kind_check check (kind in ('totp', 'webauthn')),
        drop column phone;
      alter table auth.users drop column phone, drop column phone_verified_at;
    `);
  }
}
