/** Entity tags of files that came by the S3 protocol, and its multipart uploads. Runs again without harm. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class S3Objects1790000001020 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // '<object_id>/<tag>': it is void once the file has other bytes. The parts of a multipart upload have numbers in place of
    // offsets, and may be empty.
    await runner.query(`
      alter table storage.files add column if not exists s3_etag text;
      grant update (s3_etag) on storage.files to anon, authenticated, service_role;
      alter table storage.resumable_parts add column if not exists etag text;
      alter table storage.resumable_parts drop constraint if exists resumable_parts_size_check;
      alter table storage.resumable_parts add constraint resumable_parts_size_check check (size >= 0);`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table storage.files drop column s3_etag;
      delete from storage.resumable_uploads where concat = 'multipart';
      alter table storage.resumable_parts drop column etag;
      alter table storage.resumable_parts drop constraint resumable_parts_size_check;
      alter table storage.resumable_parts add constraint resumable_parts_size_check check (size > 0);`);
  }
}
