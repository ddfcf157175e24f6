/** Identities of users at providers. Runs again without harm. */
import { MigrationInterface, QueryRunner } from 'typeorm';
import { IDENTITIES } from './sql/identities';

export class Identities1790000000620 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(IDENTITIES);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table auth.exchange_codes drop column sealed;
      drop table auth.used_states, auth.identities, auth.providers;
    `);
  }
}
