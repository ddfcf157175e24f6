/** The name of a file's bucket, for policies of Supabase, in which `bucket_id` is a name. Runs again without harm. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class BucketNames1790000001110 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // With the owner's rights: whether a policy admits a file must not depend on whether the caller may see its bucket.
    await runner.query(`
      create or replace function storage.bucket_name(bucket uuid) returns text
        language sql stable security definer set search_path = ''
        as $$ select b.name from storage.buckets b where b.id = bucket $$`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop function storage.bucket_name(uuid)');
  }
}
