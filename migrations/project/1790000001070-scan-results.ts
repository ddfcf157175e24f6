/** Marks of the virus scan. Runs again without harm. */
import { MigrationInterface, QueryRunner } from 'typeorm';

export class ScanResults1790000001070 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // '<object_id>/<signature>': it is void once the file has other bytes.
    await runner.query(`
      alter table storage.files add column if not exists scan_result text;
      grant update (scan_result) on storage.files to anon, authenticated, service_role;`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table storage.files drop column scan_result');
  }
}
