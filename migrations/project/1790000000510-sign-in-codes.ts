/** Codes in mails, PKCE and anonymous users. Runs again without harm. */
import { MigrationInterface, QueryRunner } from 'typeorm';
import { SIGN_IN_CODES } from './sql/sign-in-codes';

export class SignInCodes1790000000510 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(SIGN_IN_CODES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      drop table auth.exchange_codes;
      delete from auth.mailed_tokens where kind in ('magic_link', 'reauthentication');
      alter table auth.mailed_tokens drop constraint mailed_tokens_kind_check;
      alter table auth.mailed_tokens add constraint mailed_tokens_kind_check
        check (kind in ('reset', 'verify', 'email_change', 'invite'));
      drop index auth.mailed_tokens_email_key;
      alter table auth.mailed_tokens drop column code_hash, drop column code_attempts,
        drop column code_challenge, drop column code_challenge_method;
      alter table auth.sessions drop column amr;
      delete from auth.users where is_anonymous;
      alter table auth.users drop column is_anonymous, drop column app_data;
      alter table auth.users alter column email_key set not null;
    `);
  }
}
