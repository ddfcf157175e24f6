/** Rules of cross-origin access of a bucket (PutBucketCors), as JSON. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class BucketCors1790000001060 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table storage.buckets add column if not exists cors_rules text
        check (octet_length(cors_rules) <= 65536)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table storage.buckets drop column cors_rules');
  }
}
