/** Accounts, sessions and mailed tokens of a project. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class Auth1790000000002 implements MigrationInterface {
  async up(_runner: QueryRunner): Promise<void> {}

  async down(_runner: QueryRunner): Promise<void> {}
}
