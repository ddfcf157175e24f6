/** Which request adds bytes to a resumable upload. Runs again without harm. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class GrowingUploads1790000001071 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Null: none, so that the next one may go on with the object of the last part.
    await runner.query('alter table storage.resumable_uploads add column if not exists writer uuid');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table storage.resumable_uploads drop column writer');
  }
}
