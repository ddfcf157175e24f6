/** A mail that was requested for an address has no user until a worker has found the account (src/auth/mail). */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class RequestedMails1790000000200 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table auth.outgoing_mails alter column user_id drop not null');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`delete from auth.outgoing_mails where user_id is null;
      alter table auth.outgoing_mails alter column user_id set not null;`);
  }
}
