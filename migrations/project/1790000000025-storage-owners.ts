/**
 * Files by bucket and owner, the columns that the shipped policies look at: counting a bucket reads this index alone
 * instead of each row.
 */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class StorageOwners1790000000025 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create index files_by_owner on storage.files (bucket_id, owner_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index storage.files_by_owner');
  }
}
