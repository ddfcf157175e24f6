/** The age at which the sweep deletes the files of a bucket. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class BucketAges1790000001041 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table storage.buckets add column if not exists delete_after_days bigint
        check (delete_after_days between 1 and 3650)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table storage.buckets drop column delete_after_days');
  }
}
