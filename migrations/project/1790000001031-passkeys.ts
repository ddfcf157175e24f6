/** Passkeys with which users sign in. Runs again without harm. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class Passkeys1790000001031 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table if not exists auth.passkeys (
        id uuid primary key,
        user_id uuid not null references auth.users (id) on delete cascade,
        credential_id text not null unique,
        public_key bytea not null,
        -- A copy of a passkey has an older one.
        counter bigint not null,
        -- The domain on which it works.
        rp_id text not null,
        name text not null,
        created_at timestamptz not null,
        last_used_at timestamptz
      );
      create index if not exists passkeys_user_id on auth.passkeys (user_id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table auth.passkeys');
  }
}
