/** The key pairs that sign users' tokens. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class SigningKeys1790000000520 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Encrypted under MASTER_KEY. Null: users' tokens are signed with the project's secret (HS256).
    await runner.query('alter table projects add column signing_keys bytea');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table projects drop column signing_keys');
  }
}
