/** Security keys as second factors (WebAuthn). Runs again without harm. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class SecurityKeys1790000001050 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table auth.factors
        drop constraint if exists factors_kind_check,
        add constraint factors_kind_check check (kind in ('totp', 'webauthn')),
        alter column sealed_secret drop not null,
        -- Of a verified key: {"id", "public_key", "counter", "rp_id"}.
        add column if not exists credential jsonb;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      delete from auth.factors where kind <> 'totp';
      alter table auth.factors
        drop constraint factors_kind_check,
        add constraint factors_kind_check check (kind in ('totp')),
        alter column sealed_secret set not null,
        drop column credential;
    `);
  }
}
