/** Passkeys of people. */
import { MigrationInterface, QueryRunner } from 'typeorm';

const TABLE = `
  create table staff_passkeys (
    id uuid primary key default gen_random_uuid(),
    person_id uuid not null references staff_people on delete cascade,
    -- Chosen by the authenticator, in base64url.
    credential_id text not null unique,
    -- COSE.
    public_key bytea not null,
    -- Signatures that the authenticator has made; 0 for one that does not count.
    counter bigint not null,
    transports text[] not null,
    name text not null,
    created_at timestamptz not null,
    last_used_at timestamptz
  );
  create index staff_passkeys_person on staff_passkeys (person_id);
`;

export class StaffPasskeys1790000000371 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLE);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table staff_passkeys');
  }
}
