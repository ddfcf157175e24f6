/** The key pairs of the S3 protocol. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class S3Keys1790000001020 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Encrypted under MASTER_KEY. Null: none.
    await runner.query('alter table projects add column s3_keys bytea');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table projects drop column s3_keys');
  }
}
